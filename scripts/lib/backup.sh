# shellcheck shell=bash
# What scripts/backup and scripts/restore share: the database of a pipeline of scripts/up, in processes or in containers.

# Sets the form and the way that scripts/up has started.
use_started_form() {
  local way form
  require_own_local
  read -r way form _ < <(cat "$LOCAL/mode" 2>/dev/null) || fail "scripts/up has not started a pipeline in $ROOT; start it first"
  [[ $form != ha ]] || use_ha
  MODE=$way
  if [[ $MODE == docker ]]; then require_docker; fi
  PRIMARY=$(mysql_primary)
}

# Runs a command of the primary's machine in its data directory: with MySQL's own tools in a container, MariaDB's else. In
# a container the password of root is in a file.
at_primary() { # COMMAND ARGUMENT…
  if [[ $MODE == docker ]]; then
    # shellcheck disable=SC2016 # expanded in the container
    "${COMPOSE[@]}" exec -T "$PRIMARY" sh -c 'cd /var/lib/mysql && MYSQL_PWD=$(cat /run/secrets/root-password) exec "$@"' sh "$@"
  else
    (cd "$DATA_DIR/$PRIMARY" && exec "$@")
  fi
}

# The options with which each tool reaches the server as root.
as_root() { # TOOL ARGUMENT…: mysql or mysqldump
  local tool=$1
  if [[ $MODE == docker ]]; then
    at_primary "$tool" -u root "${@:2}"
  else
    case $tool in
      mysql) tool=mariadb ;;
      mysqldump) tool=mariadb-dump ;;
    esac
    at_primary "$tool" --no-defaults --socket=./mysql.sock --user="$(id -un)" "${@:2}"
  fi
}

sql() { # STATEMENT: prints rows, columns separated by tabs
  if [[ $MODE == docker ]]; then as_root mysql -N -e "$1"; else mysql_as_root "$PRIMARY" -N -e "$1"; fi
}

# Where the dump ends and the binary logs take over: FILE POSITION. Of the first lines: a dump may be large.
position_of() { # DUMP
  sed -nE "/^-- CHANGE (MASTER|REPLICATION SOURCE) TO /{s/^[^']*'([^']+)', (MASTER|SOURCE)_LOG_POS=([0-9]+);.*/\1 \3/p;q}" "$1"
}

logs() { # prints the binary logs of the backup, oldest first, from the one that the dump names
  local log
  for log in "$DIR"/*.[0-9][0-9][0-9][0-9][0-9][0-9]; do
    [[ ! -e $log || ${log##*/} < $FIRST ]] || printf '%s\n' "$log"
  done
}

# Differs when a binary log of the same name is another one: of another server, or of a new data directory. Of its first event,
# which has the second in which the log began; byte 22 says whether it is still written. A log grows after 126 bytes.
mark_of() { # FILE
  head -c 120 "$1" | od -An -v -t x1 -w1 | sed 22d | sha256sum | cut -c 1-64
}

mark_at_primary() { # LOG
  at_primary head -c 120 "$1" | mark_of - || fail "the binary log $1 of $PRIMARY cannot be read"
}
