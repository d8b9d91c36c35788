# The chart of the release before, in FOLDER; a description in its definitions tells them apart.
set -eo pipefail
commit=$(cat e2e/previous-release)
git cat-file -e "$commit^{commit}" ||
  { echo "this clone has no commit $commit: git fetch --unshallow fetches it"; exit 1; }
git archive "$commit" charts/injector-operator | tar -x -C "$FOLDER"
cd "$FOLDER/charts/injector-operator"
sed -i.bak 's/A sidecar injector: what/An old injector: what/' $(ls crds/*.yaml files/crds/*.yaml 2>&-)
