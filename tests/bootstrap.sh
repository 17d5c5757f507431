#!/bin/sh
# ./bootstrap install, with a configure that is a script of ours: where it installs, and what it says.
set -eu
source=${SOURCE_DIR:-$PWD}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p data src ui tests bench po home
cp "$source/bootstrap" .
: >configure.ac
: >Makefile.am
: >Makefile.in
: >po/Makefile.in.in
cat >configure <<'END'
#!/bin/sh
prefix=/usr/local
for option; do
    case $option in --prefix=*) prefix=${option#*=} ;; esac
done
echo "configured $*" >>../did
echo "echo \"'--enable-werror'\"" >config.status
chmod +x config.status
{
    echo "prefix = $prefix"
    echo 'all:'
    echo 'install:'
    printf '\techo "installed in $(prefix), units in $(systemduserunitdir)" >>../did\n'
} >Makefile
END
chmod +x configure
HOME=$work/home
export HOME
unset PREFIX MAKEFLAGS MAKELEVEL

# expect LINE...: what installing must have done
expect() {
    : >did
    ./bootstrap --no-install install >said 2>&1 || { cat said; exit 1; }
    printf '%s\n' "$@" | diff - did
}
says() { grep -qF -- "$1" said || { echo "bootstrap: does not say: $1"; cat said; exit 1; }; }
refuses() {
    if PREFIX=$1 ./bootstrap --no-install install >said 2>&1; then exit 1; fi
    says "$2"
}

own=$HOME/.local
installed="installed in $own, units in $own/share/systemd/user"
expect "configured --prefix=$own" "$installed"
says "installed: $own/bin/tiro"
says "in $own/share/man)"
says "export PATH=\"$own/bin:\$PATH\""
PATH=$own/bin:$PATH
expect "$installed"
says "to start it: tiro"
mkdir -p build/src/cli
: >build/src/cli/main.o # it has the place of the translations in it
export PREFIX="$work/other"
expect "configured --enable-werror --prefix=$PREFIX" \
    "installed in $PREFIX, units in $PREFIX/share/systemd/user"
[ ! -e build/src/cli/main.o ]
refuses here "give the whole path"
refuses "$work/did/tiro" "cannot be written"
echo "bootstrap: installs in ~/.local and in PREFIX"
