#!/usr/bin/env bash
# publish.sh REMOTE BASE [VERSION]: renders the site, and commits it to the branch gh-pages of REMOTE.
# With VERSION (v1.2.3), the site goes into a folder of that name, and stays there; else to the root.
# BASE is the path of the site on its host, with a slash at both ends.
set -euo pipefail
remote=$1 base=$2 version=${3:-}
branch=.build/site-branch
rm -rf "$branch"
if git ls-remote --exit-code --heads "$remote" gh-pages >/dev/null; then
  git clone --quiet --depth 1 --branch gh-pages "$remote" "$branch"
else
  git init --quiet --initial-branch gh-pages "$branch"
fi
versions=$(cd "$branch" && find . -maxdepth 1 -name 'v[0-9]*' -printf '%f\n' | sort --reverse --version-sort | tr '\n' ' ')
BASE=$base${version:+$version/} VERSIONS=$versions HOST_BASE=$base make site
if [ -n "$version" ]; then
  rm -rf "${branch:?}/$version"
else
  find "$branch" -maxdepth 1 -mindepth 1 -not -name .git -not -name 'v[0-9]*' -exec rm -r {} +
fi
mkdir -p "$branch/$version"
cp -r .build/site/. "$branch/$version/"
# Without this file, the host would hide files whose names begin with an underscore.
touch "$branch/.nojekyll"
cd "$branch"
git add --all
git -c user.name=site -c user.email=site@localhost commit --quiet --allow-empty --message "Publish ${version:-the newest commit}"
git push --quiet "$remote" gh-pages
echo "published ${version:-the newest commit} beside: ${versions:-no other version}"
