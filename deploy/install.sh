#!/bin/sh
# Install ops-gateway as a system service, upgrade it in place, or take it away again; see docs/install.md.
# For Debian 12, Ubuntu 24.04 and newer. Run it as root from a clone: it first shows what it would do, and asks.
set -eu

ACCOUNT=ops-gateway
STATE=/var/lib/ops-gateway
SETTINGS=/etc/ops-gateway
PROGRAM=/opt/ops-gateway
COMMAND=/usr/local/bin/ops-gateway
UNIT=/etc/systemd/system/ops-gateway.service
PATHS=$UNIT.d/10-paths.conf # what this host serves; the only drop-in that is ours
EXTRAS=$PROGRAM/extras      # those that were asked for, for upgrades

here=$(cd "$(dirname "$0")" && pwd)
shared='' trees='' group=ops-agent source=${here%/deploy} extras=$(cat "$EXTRAS" 2>/dev/null || true)
ask=yes only_show='' remove='' missing='' pass=show steps=0

usage() {
  cat <<TEXT
usage: install.sh [--shared DIR] [--work-tree DIR]... [--group NAME] [--extras LIST] [--source PATH]
                  [--yes] [--dry-run]
       install.sh --uninstall [--yes] [--dry-run]

  --shared DIR      the directory that the agent's container shares with this host (/srv/agent/shared)
  --work-tree DIR   a work tree that is served; may be given several times
  --group NAME      the group that the agent and the gateway have in common (ops-agent); made if need be
  --extras LIST     what not everybody needs, with commas: redis, postgresql, mysql, charts; an upgrade keeps them
  --source PATH     what to install: a clone or a wheel (the clone that this script lies in)
  --yes             do not ask
  --dry-run         show what would be done, and do nothing
  --uninstall       take program and service away; data, settings and the account stay

Without --shared and --work-tree it upgrades and leaves the directories as they were given the last time.
TEXT
}

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf '  %s\n' "$2" >&2
  exit 1
}

# A directory as it can stand in a unit file and in an env file without being quoted.
directory() {
  case $1 in
    /*[!A-Za-z0-9/._+@-]* | [!/]* | */../* | */.. | / | '') fail "not a plain absolute path: $1" ;;
  esac
  printf '%s' "${1%/}"
}

extras_list() {
  case $1 in
    *[!a-z,]*) fail "not a list of extras: $1" "write it like redis,charts" ;;
  esac
  printf '%s' "$1"
}

while [ $# -gt 0 ]; do
  case $1 in
    --shared | --work-tree | --group | --extras | --source) [ $# -gt 1 ] || fail "$1 needs a value" ;;
  esac
  case $1 in
    --shared) shared=$(directory "$2") && shift ;;
    --work-tree) trees="$trees $(directory "$2")" && shift ;;
    --group) group=$2 && shift ;;
    --extras) extras=$(extras_list "$2") && shift ;;
    --source) source=$2 && shift ;;
    --yes) ask='' ;;
    --dry-run) only_show=yes ;;
    --uninstall) remove=yes ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done

# step WORDS COMMAND...: in the first pass say what will be done, in the second do it.
step() {
  steps=$((steps + 1))
  words=$1
  shift
  if [ "$pass" = show ]; then
    printf '  - %s\n' "$words"
  else
    printf '%s\n' "$words"
    "$@"
  fi
}

# --- what is needed ---------------------------------------------------------------------------------------------

check_host() {
  [ "$(id -u)" = 0 ] || [ -n "$only_show" ] || fail "this changes the system" "sudo sh $0 --dry-run shows how"
  command -v systemctl >/dev/null || fail "there is no systemd here"
  [ -n "$remove" ] && return
  command -v git >/dev/null || missing=git
  command -v ssh >/dev/null || missing="$missing openssh-client"
  python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
  [ -z "$trees" ] || command -v setfacl >/dev/null || missing="$missing acl"
  [ -z "$missing" ] || fail "it needs more than is here" "apt-get install -y $missing"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "Python 3.11 or newer is needed"
  case $source in
    *.whl) [ -f "$source" ] || fail "there is no wheel $source" ;;
    *) [ -f "$source/pyproject.toml" ] || fail "$source is neither a clone nor a wheel" ;;
  esac
  for each in ops-gateway.service share_tree.py; do
    [ -f "$here/$each" ] || fail "$each must lie beside this script"
  done
  for tree in $trees; do
    [ -e "$tree/.git" ] || fail "$tree is no work tree of git" "clone the repository there first"
  done
  # It is given to another owner, so it must not be something else's.
  if [ -d "$shared" ] && [ ! -e "$shared/gateway.json" ] && [ -n "$(ls -A "$shared")" ]; then
    fail "$shared is not empty, and no gateway has served it" "give a directory that is for this alone"
  fi
}

# --- installing -------------------------------------------------------------------------------------------------

install_all() {
  getent group "$group" >/dev/null || [ -z "$shared$trees" ] ||
    step "make the group $group, which the agent and the gateway have in common" groupadd --system "$group"
  getent passwd "$ACCOUNT" >/dev/null ||
    step "make the account $ACCOUNT, which nobody logs in to" useradd --system --user-group --no-create-home \
      --home-dir "$STATE" --shell /usr/sbin/nologin "$ACCOUNT"
  id -Gn "$ACCOUNT" 2>/dev/null | tr ' ' '\n' | grep -qxF "$group" || [ -z "$shared$trees" ] ||
    step "put $ACCOUNT into the group $group" usermod --append --groups "$group" "$ACCOUNT"
  own_directory "$STATE" "$ACCOUNT:$ACCOUNT" 700
  own_directory "$SETTINGS" "$ACCOUNT:$ACCOUNT" 700
  own_directory "$SETTINGS/credentials" "root:$ACCOUNT" 750
  [ -z "$shared" ] || own_directory "$shared" "$ACCOUNT:$group" 2770
  for tree in $trees; do
    share_tree "$tree"
  done
  [ -e "$SETTINGS/gateway.env" ] || [ -z "$shared$trees" ] ||
    step "begin $SETTINGS/gateway.env with the shared directory and the first work tree" write_settings
  [ -e "$SETTINGS/gateway.toml" ] ||
    step "begin $SETTINGS/gateway.toml with the work trees after the first" write_repositories
  step "install the program from $source into $PROGRAM, beside the one that may be running" install_program
  step "put $COMMAND in place, which runs it as $ACCOUNT with its settings" write_command
  step "put the unit $UNIT in place" install -m 644 "$here/ops-gateway.service" "$UNIT"
  [ -z "$shared$trees" ] || step "say in $PATHS what this host serves" write_paths
  step "let systemd read its units again" systemctl daemon-reload
  if systemctl is-active --quiet ops-gateway 2>/dev/null; then
    step "restart the service; a push that runs may end first" systemctl restart ops-gateway
  fi
}

own_directory() {
  [ "$(stat -c '%U:%G %a' "$1" 2>/dev/null)" = "$2 $3" ] ||
    step "have the directory $1 for $2, mode $3" install -d -o "${2%:*}" -g "${2#*:}" -m "$3" "$1"
}

share_tree() {
  getfacl -cp "$1" | grep -qxF "default:group:$group:rwx" ||
    step "let the group $group read and write everything in $1, also what is made there later" give_to_group "$1"
}

# The agent may be at work in the tree, so no name in it is changed by root: share_tree.py holds what it looked at.
give_to_group() {
  python3 -I "$here/share_tree.py" "$group" "$1" || {
    [ $? = 3 ] || fail "$1 could not be given to $group"
    echo "$1 has no ACLs: let the agent run with umask 002, and give the unit UMask=0002"
  }
}

write_settings() {
  {
    echo "# Settings of the gateway on this host. docs/settings.md describes all of them."
    [ -z "$shared" ] || echo "GATEWAY_SHARED_DIR=$shared"
    for tree in $trees; do
      echo "GATEWAY_REPO_DIR=$tree"
      break
    done
  } | install -m 600 -o "$ACCOUNT" -g "$ACCOUNT" /dev/stdin "$SETTINGS/gateway.env"
}

write_repositories() {
  {
    echo "# Repositories beside that of GATEWAY_REPO_DIR, each with its own name and key; see docs/settings.md."
    first=yes
    for tree in $trees; do
      name=$(printf '%s' "${tree##*/}" | tr -c 'A-Za-z0-9_-' '-') # what can stand in a flag's name
      [ -n "$first" ] || printf '\n[[repositories]]\nname = "%s"\npath = "%s"\n' "$name" "$tree"
      first=''
    done
  } | install -m 600 -o "$ACCOUNT" -g "$ACCOUNT" /dev/stdin "$SETTINGS/gateway.toml"
}

# Each version in a directory of its own, and a link to the one that counts: an installation that fails changes nothing.
install_program() {
  fresh=$PROGRAM/versions/$(date -u +%Y%m%dT%H%M%SZ)
  before=$(readlink "$PROGRAM/venv" || true)
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"; [ "$(readlink "$PROGRAM/venv")" = "$fresh" ] || rm -rf "$fresh"' EXIT
  umask 022
  python3 -m venv "$fresh"
  if [ -d "$source" ]; then # a copy, for a build leaves files behind
    for each in pyproject.toml README.md LICENSE executor gateway; do
      cp -R "$source/$each" "$scratch/"
    done
    "$fresh/bin/pip" install --quiet --disable-pip-version-check "$scratch${extras:+[$extras]}"
  else
    "$fresh/bin/pip" install --quiet --disable-pip-version-check "$source${extras:+[$extras]}"
  fi
  "$fresh/bin/ops-gateway" --help >/dev/null
  printf '%s\n' "$extras" >"$EXTRAS"
  ln -s "$fresh" "$PROGRAM/venv.new"
  mv -T "$PROGRAM/venv.new" "$PROGRAM/venv"
  for version in "$PROGRAM"/versions/*; do # the one before stays, to go back to
    [ "$version" = "$fresh" ] || [ "$version" = "$before" ] || rm -rf "$version"
  done
  rm -rf "$scratch"
  trap - EXIT
}

write_command() {
  cat >"$COMMAND" <<TEXT
#!/bin/sh
# ops-gateway as its service runs it: its account, its settings, its credentials. Written by install.sh.
set -eu
umask 0022
export HOME=$STATE GATEWAY_STATE_DIR=$STATE
export GATEWAY_ENV_FILE=$SETTINGS/gateway.env GATEWAY_CONFIG_FILE=$SETTINGS/gateway.toml
cd /
[ "\$(id -un)" != $ACCOUNT ] || exec $PROGRAM/venv/bin/ops-gateway "\$@"
[ "\$(id -u)" = 0 ] || { echo "ops-gateway: run it as root or as $ACCOUNT (sudo ops-gateway ...)" >&2 && exit 1; }
[ -n "\${SUDO_USER:-}" ] || export OPS_GATEWAY_READER=root # so that commands which it shows need no sudo
for file in $SETTINGS/credentials/*; do
  [ -f "\$file" ] || continue
  name=\${file##*/}
  case \$name in
    *[!A-Z0-9_]*) ;; # SSH_KEY.pub, KNOWN_HOSTS.old: no settings
    SSH_KEY | KNOWN_HOSTS | CREDENTIAL_FILE | CA_FILE) export "GATEWAY_\$name=\$file" ;;
    *) export "GATEWAY_\$name=\$(cat "\$file")" ;;
  esac
done
exec setpriv --reuid=$ACCOUNT --regid=$ACCOUNT --init-groups $PROGRAM/venv/bin/ops-gateway "\$@"
TEXT
  chmod 755 "$COMMAND"
}

# Directories under the homes are bound into the empty /home that the service sees; the others are just made writable.
write_paths() {
  mkdir -p "$UNIT.d"
  {
    echo "# Written by install.sh. Lines of your own belong in another drop-in: systemctl edit ops-gateway"
    echo "[Unit]"
    echo "RequiresMountsFor=$shared$trees"
    echo "[Service]"
    for path in $shared $trees; do
      case $path in
        /home/* | /root/* | /run/user/*) echo "BindPaths=$path" ;;
        *) echo "ReadWritePaths=$path" ;;
      esac
    done
  } >"$PATHS"
}

# The account must come as far as the directories by itself, for the command line is not in the unit's own world.
check_ways() {
  for path in $shared $trees; do
    above=$path
    while [ "$above" != / ]; do
      above=$(dirname "$above")
      as_account test -x "$above" ||
        printf '  %s cannot pass through %s: setfacl -m u:%s:x %s\n' "$ACCOUNT" "$above" "$ACCOUNT" "$above"
    done
    as_account test -w "$path" || printf '  %s cannot write %s\n' "$ACCOUNT" "$path"
  done
}

as_account() {
  setpriv --reuid="$ACCOUNT" --regid="$ACCOUNT" --init-groups "$@"
}

next_steps() {
  echo
  if [ -z "$shared$trees" ]; then
    echo "Upgraded. The version before is still in $PROGRAM/versions; docs/install.md says how to go back."
    return
  fi
  echo "Installed. What comes next, as root:"
  check_ways
  cat <<TEXT
  install -o $ACCOUNT -m 600 YOUR-KEY $SETTINGS/credentials/SSH_KEY
  ssh-keyscan YOUR-REMOTE >$SETTINGS/credentials/KNOWN_HOSTS
  ops-gateway init                    asks for what is open (approvals, Telegram), adopts, and runs the doctor; in its
                                      stead, with $SETTINGS/gateway.env by hand:
    ops-gateway adopt                 the git directory moves out of the agent's reach
    ops-gateway doctor                every assumption, with its mend
  systemctl enable --now ops-gateway
TEXT
  [ -z "$shared" ] || echo "The agent's container gets $shared, and the group $(getent group "$group" | cut -d: -f3) ($group)."
}

# --- taking it away ---------------------------------------------------------------------------------------------

uninstall_all() {
  if [ -e "$UNIT" ]; then
    step "stop the service, and start it no more; a push that runs may end first" \
      systemctl disable --now ops-gateway
    step "remove the unit and $PATHS" remove_unit
    step "let systemd read its units again" systemctl daemon-reload
  fi
  for each in "$COMMAND" "$PROGRAM"; do
    [ ! -e "$each" ] || step "remove $each" rm -rf "$each"
  done
}

remove_unit() {
  rm -f "$UNIT" "$PATHS"
  [ ! -d "$UNIT.d" ] || rmdir --ignore-fail-on-non-empty "$UNIT.d"
}

what_stays() {
  cat <<TEXT

Taken away. What stays: $STATE (the record, and the adopted git directories, which the .git of each
work tree points to), $SETTINGS, the shared directory, the account $ACCOUNT, and drop-ins of your own.
To give a work tree its git directory back, install again, and run: ops-gateway release NAME
TEXT
}

# --- the two passes ---------------------------------------------------------------------------------------------

check_host
walk=install_all end=next_steps
[ -z "$remove" ] || { walk=uninstall_all && end=what_stays; }
if [ -z "$remove" ] && [ ! -e "$PATHS" ] && [ -z "$shared" ]; then
  shared=/srv/agent/shared
fi
echo "This would be done:"
$walk
[ "$steps" -gt 0 ] || { echo "  nothing" && exit 0; }
[ -z "$only_show" ] || exit 0
if [ -n "$ask" ]; then
  printf 'Go on? [y/N] '
  read -r answer || answer=''
  case $answer in [yY]*) ;; *) echo "Nothing was done." && exit 1 ;; esac
fi
pass=act
$walk
$end
