# shellcheck shell=bash
# Functions of every script here: paths, messages, waiting.

# First, and in words that bash 3.2 of macOS reads.
if [[ $(uname) != Linux ]] || ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
  echo "${0##*/}: Linux with bash 4.4 or newer is needed, and this is $(uname) with bash $BASH_VERSION; on macOS and Windows run it in a Linux virtual machine, such as Lima or WSL 2" >&2
  exit 1
fi

# With it cd goes elsewhere, and prints where.
unset CDPATH
# With these a client of MySQL goes to another server.
unset "${!MYSQL_@}" "${!MARIADB_@}"
# cron and systemd may give none.
export HOME=${HOME:-~}
# The same by every path that leads to the clone: containers and processes are found by it.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
LOCAL=$ROOT/.local
LOG_DIR=$LOCAL/log
RUN_DIR=$LOCAL/run
DATA_DIR=$LOCAL/data
ETC_DIR=$LOCAL/etc
PROGRAM=${0##*/}
# Of whole paths, because programs are run in other directories, too. The servers' programs are in sbin, which is missing from
# the PATH after su.
PATH=$(
  while IFS= read -r -d : directory; do
    case $directory in
      /* | \~[!/]*) ;;
      \~ | \~/*) directory=$HOME${directory#\~} ;; # which only bash reads so
      *) directory=$PWD/$directory ;;
    esac
    printf '%s:' "$directory"
  done <<<"$PATH:"
)/usr/local/sbin:/usr/sbin:/sbin
# Every file written here may contain a secret.
umask 077
# The same bytes, dates and order of names for every user.
export LC_ALL=C.UTF-8

say() { # TEXT: one line of progress, with the seconds since the start
  printf '%4ds  %s\n' "$SECONDS" "$*"
}

fail() { # SENTENCE: prints the reason and exits with 1
  printf '%s: %s\n' "$PROGRAM" "$*" >&2
  exit 1
}

# The comment at the top of a script is its manual.
case ${1:-} in
  -h | --help)
    sed -n '1d; /^#/!q; s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

# Servers and services obey variables that are meant for others: MNESIA_DIR moves the data of RabbitMQ, UMASK opens those of
# MariaDB, SPRING_PROFILES_ACTIVE, COMPOSE_PROFILES and REDIS_IMAGE change what starts. What starts after this gets of the
# caller's environment only what it must have; a name such as spring.profiles.active is none of a shell, and become drops it.
NAMELESS=()
drop_environment() {
  local name
  for name in $(compgen -e); do
    case $name in
      HOME | PATH | LC_ALL | TMPDIR | SECKILL_TEST_RUN) ;;
      DOCKER_* | *_proxy | *_PROXY) ;; # of docker
      SECKILL_*) unset "$name" ;;
      *) export -n "${name?}" ;; # it may be a variable of this script, too
    esac
  done
  mapfile -d '' -t NAMELESS < <(env -0 | sed -z 's/=.*//' | grep -zvE '^([A-Za-z_][A-Za-z0-9_]*)?$')
}

become() { # COMMAND…: in place of this shell
  exec env "${NAMELESS[@]/#/--unset=}" "$@"
}

has() { # COMMAND: is it installed?
  command -v "$1" >/dev/null 2>&1
}

is_root() {
  [[ $(id -u) == 0 ]]
}

# Later ones have MariaDB 11, which MySQL's driver cannot ask for what Hibernate wants to know.
is_debian_12() {
  [[ -r /etc/os-release ]] && grep -qx 'ID=debian' /etc/os-release && grep -qx 'VERSION_ID="12"' /etc/os-release
}

# Of a start with sudo, for one. Its files would seem to be missing.
require_own_local() {
  [[ ! -e $LOCAL || -w $LOCAL ]] || fail "$LOCAL belongs to $(stat -c %U "$LOCAL"), who has started the pipeline; run this as that user"
}

# One up or down at a time; the lock ends with this process, and no daemon inherits it (9>&-).
lock_pipeline() {
  has flock || fail "flock is not installed; install util-linux"
  require_own_local
  mkdir -p "$LOCAL"
  exec 9>"$LOCAL/lock"
  flock -n 9 || fail "another scripts/up or scripts/down is at work in $ROOT; wait for it to end"
}

render() { # TEMPLATE NAME=VALUE…: prints the template with every @NAME@ replaced
  local text pair
  text=$(<"$1")
  shift
  for pair in "$@"; do
    text=${text//"@${pair%%=*}@"/"${pair#*=}"}
  done
  printf '%s\n' "$text"
}

write_file() { # FILE [MODE]: standard input becomes the file, whole or not at all
  mkdir -p "$(dirname "$1")" && cat >"$1.new" && chmod "${2:-600}" "$1.new" && mv "$1.new" "$1"
}

port_answers() { # PORT: does a process of this machine listen on it?
  (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}
