# Extracts the previous release's chart into FOLDER; a changed description marks its CRDs.
set -eo pipefail
commit=$(cat e2e/previous-release)
git cat-file -e "$commit^{commit}" ||
  { echo "this clone has no commit $commit: run git fetch --unshallow"; exit 1; }
git archive "$commit" charts/injector-operator | tar -x -C "$FOLDER"
cd "$FOLDER/charts/injector-operator"
sed -i.bak 's/A sidecar injector: what/An old injector: what/' $(ls crds/*.yaml files/crds/*.yaml 2>&-)
