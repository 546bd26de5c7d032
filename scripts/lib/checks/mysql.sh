# shellcheck shell=bash
# MySQL: its data directory, its standby and scripts/promote.

# Else --force kills the primary, and drops what the standby has received and not applied.
that_a_wrong_time_to_apply_promotes_nothing() {
  local tree=$LOCAL/promoted seconds
  mkdir -p "$tree/.local/run"
  cp -r "$ROOT/scripts" "$tree/"
  echo 'processes ha' >"$tree/.local/mode"
  for seconds in 60s -1 1.5 ' '; do
    SECKILL_PROMOTE_SECONDS=$seconds refuses_with 'SECKILL_PROMOTE_SECONDS must be' "$tree/scripts/promote" --force
  done
  SECKILL_PROMOTE_SECONDS=2 refuses_with 'is not running' "$tree/scripts/promote" --force
}

# A primary and its standby as scripts/up --ha starts them, in a tree of their own: backups, and what is restored of them; each
# reason to refuse a promotion, then one after the death of the primary, one beside it, and one by force.
in_the_proof_that_a_backup_is_restored_and_a_standby_promoted_with_everything() (
  use_ha
  mkdir -p "$LOCAL/pair/scripts" "$LOCAL/pair/.local"
  cp -r "$ROOT/scripts"/{promote,backup,restore,lib} "$LOCAL/pair/scripts/"
  PAIR=$LOCAL/pair LOCAL=$LOCAL/pair/.local
  DATA_DIR=$LOCAL/data ETC_DIR=$LOCAL/etc RUN_DIR=$LOCAL/run LOG_DIR=$LOCAL/log
  mkdir -p "$LOG_DIR"
  echo 'processes ha' >"$LOCAL/mode"
  MYSQL_1_PORT=$(free_port)
  MYSQL_2_PORT=$(free_port $((MYSQL_1_PORT + 1)))
  printf 'MYSQL_1=%s\nMYSQL_2=%s\n' "$MYSQL_1_PORT" "$MYSQL_2_PORT" >"$LOCAL/ports"
  echo "MYSQL_URL=mysql://127.0.0.1:$MYSQL_1_PORT/seckill" >"$LOCAL/env"
  trap 'stop_processes 60 mysql-1 mysql-2' EXIT
  promotions
)

promotions() {
  pair_up && MYSQL_REPLICA_PASSWORD=another && pair_up && on mysql-2 'STOP SLAVE IO_THREAD; START SLAVE IO_THREAD' &&
    wait_ready mysql-2 'the standby with another password' 20 mysql_follows mysql-2 && backups && on mysql-1 'CREATE DATABASE seckill; CREATE TABLE seckill.orders (id INT PRIMARY KEY)' &&
    on mysql-2 'STOP SLAVE IO_THREAD' && refused 'does not receive and apply' && on mysql-2 'START SLAVE IO_THREAD' &&
    on mysql-2 'STOP SLAVE SQL_THREAD' && refused 'does not receive and apply' && on mysql-2 'START SLAVE SQL_THREAD' &&
    # Both threads run, and the standby lacks what was committed alone. The primary sells on.
    on mysql-1 'SET GLOBAL rpl_semi_sync_master_enabled = OFF' && lock_standby &&
    on mysql-1 'INSERT INTO seckill.orders VALUES (1)' && refused 'has not applied everything' &&
    on mysql-1 'INSERT INTO seckill.orders VALUES (2)' && unlock_standby && pair_up && standby_made_anew && runs_without_its_standby &&
    # The primary is dead.
    mv "$DATA_DIR/mysql-in-step" "$LOCAL/mark" && end_part mysql-1 && refused 'does not answer' &&
    sed 's/^[0-9]* /1&/' "$LOCAL/mark" >"$DATA_DIR/mysql-in-step" && refused 'does not answer' &&
    mv "$LOCAL/mark" "$DATA_DIR/mysql-in-step" && "$PAIR/scripts/promote" && on mysql-2 'INSERT INTO seckill.orders VALUES (3)' &&
    grep -q "^MYSQL_URL=mysql://127.0.0.1:$MYSQL_2_PORT/seckill$" "$LOCAL/env" &&
    # Nobody remembers the promotion: the stale server stays closed.
    mv "$DATA_DIR/mysql-primary" "$LOCAL/role" && refuses_with 'mysql-2 has transactions that mysql-1' pair_up &&
    [[ $(on mysql-1 'SELECT @@read_only') == 1 ]] && stop_processes 60 mysql-1 && mv "$LOCAL/role" "$DATA_DIR/mysql-primary" &&
    pair_up && [[ $(orders_on mysql-1) == 3 && $(on mysql-1 'SELECT @@read_only') == 1 ]] &&
    # Beside a living primary.
    "$PAIR/scripts/promote" && ! is_running mysql-2 && on mysql-1 'INSERT INTO seckill.orders VALUES (4)' && pair_up &&
    interrupted_promotions && orders_are_on_both 4 &&
    # By force, without what only the dead primary has.
    on mysql-1 'SET GLOBAL rpl_semi_sync_master_enabled = OFF' && on mysql-2 'STOP SLAVE IO_THREAD' && rm "$DATA_DIR/mysql-in-step" &&
    on mysql-1 'INSERT INTO seckill.orders VALUES (5); FLUSH ENGINE LOGS' && end_part mysql-1 && refused 'does not answer' &&
    "$PAIR/scripts/promote" --force && [[ $(orders_on mysql-2) == 4 ]] && refuses_with 'mysql-1 has transactions that mysql-2' pair_up &&
    # It commits alone already, and goes on, also after a crash.
    await_mysql && [[ $LEFT_OUT == mysql-1 && $(on mysql-1 'SELECT @@read_only') == 1 ]] && sells_alone mysql-2 &&
    crash mysql-2 && await_mysql && sells_alone mysql-2
}

# With the command of the runbook; then it has its standby again.
runs_without_its_standby() {
  end_part mysql-2 && crash mysql-1 && refuses_with 'how to run without it' await_mysql &&
    (cd "$PAIR" && eval "$(sed -n '/^## Run without the standby/,/^## What/{/^```/,/^```/{/^```/!p}}' "$ROOT/docs/runbooks.md")") &&
    sells_alone mysql-1 && crash mysql-1 && await_mysql && [[ $LEFT_OUT == mysql-2 ]] && sells_alone mysql-1 && LEFT_OUT= &&
    pair_up && ! sells_alone mysql-1 && end_part mysql-2 && refuses_with 'how to run without it' await_mysql && pair_up
}

crash() { # NODE: and starts it again
  end_part "$1" && start_mysql "$1"
}

sells_alone() { # NODE
  [[ $(on "$1" 'SELECT @@read_only + @@rpl_semi_sync_master_enabled') == 0 ]]
}

# One server accepts writes, whether it was interrupted before it opened the standby or after.
interrupted_promotions() {
  interrupted_promotion 'exec /usr/bin/mariadb "$@"' && pair_up && opens_only mysql-2 &&
    interrupted_promotion : && pair_up && opens_only mysql-1
}

interrupted_promotion() { # COMMAND: in place of the statement that opens the standby
  local code=0
  mkdir -p "$LOCAL/killed"
  printf '#!/bin/bash\ncase "$*" in *"RESET SLAVE ALL"*) (%s); kill -KILL $PPID ;; esac\nexec /usr/bin/mariadb "$@"\n' "$1" >"$LOCAL/killed/mariadb"
  chmod 755 "$LOCAL/killed/mariadb"
  PATH=$LOCAL/killed:$PATH "$PAIR/scripts/promote" || code=$?
  ((code == 137))
}

opens_only() { # NODE
  [[ $(on "$1" 'SELECT @@read_only') == 0 && $(on "$(mysql_standby)" 'SELECT @@read_only') == 1 && $(mysql_primary) == "$1" ]] &&
    [[ -z $(on "$1" 'SHOW SLAVE STATUS') ]]
}

orders_are_on_both() { # COUNT
  [[ $(orders_on mysql-1) == "$1" && $(orders_on mysql-2) == "$1" ]]
}

# Later than its primary keeps binary logs.
standby_made_anew() {
  on mysql-1 'FLUSH BINARY LOGS' && wait_ready mysql-1 'the removal of binary logs' 10 has_one_log && stop_processes 60 mysql-2 &&
    rm -r "$DATA_DIR/mysql-2" && pair_up && [[ $(orders_on mysql-2) == 2 ]]
}

has_one_log() {
  on mysql-1 "PURGE BINARY LOGS TO '$(on mysql-1 'SHOW BINARY LOGS' | cut -f 1 | tail -n 1)'" && [[ $(on mysql-1 'SHOW BINARY LOGS' | wc -l) == 1 ]]
}

pair_up() { # as scripts/up --ha starts it
  local node
  for node in $MYSQL_NODES; do is_running "$node" || start_mysql "$node"; done
  await_mysql && [[ -z $LEFT_OUT ]]
}

orders_on() { # NODE: how many
  on "$1" 'SELECT COUNT(*) FROM seckill.orders'
}

refused() { # REASON: and nothing is promoted
  refuses_with "$1" env SECKILL_PROMOTE_SECONDS=2 "$PAIR/scripts/promote" && [[ $(on mysql-2 'SELECT @@read_only') == 1 ]]
}

end_part() { # NODE: kills it
  kill -KILL "$(pid_of "$1")" && wait_ended "$1"
}

lock_standby() { # what it receives waits for this session
  start_process locker bash -c "cd '$DATA_DIR/mysql-2' && exec mariadb --no-defaults --socket=./mysql.sock --user='$(id -un)' \
    -e 'LOCK TABLES seckill.orders READ; SELECT SLEEP(60)'"
  wait_ready locker 'the lock' 10 is_locking
}

is_locking() {
  [[ $(on mysql-2 'SHOW PROCESSLIST') == *SLEEP* ]]
}

unlock_standby() {
  stop_processes 10 locker && on mysql-2 "$(on mysql-2 "SELECT CONCAT('KILL ', id) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'")"
}

# As when /tmp is full: the link would be /data, which may be another program's.
that_a_data_directory_is_created_through_a_temporary_link_only() (
  DATA_DIR=$LOCAL/data
  mktemp() { false; }
  ln() { echo "$*" >>"$LOCAL/linked"; }
  mariadb-install-db() { true; }
  refuses_with 'temporary' create_mysql_data mysql && [[ ! -e $LOCAL/linked ]] || exit
  unset -f mktemp ln
  mariadb-install-db() { [[ "$TMPDIR $*" != *' b/'* ]] && mkdir "$DATA_DIR/mysql.new/mysql"; }
  mkdir "$LOCAL/a b"
  export TMPDIR="$LOCAL/a b"
  create_mysql_data mysql && [[ -e $DATA_DIR/mysql/mysql ]]
)

# As after a file system check that has removed the directory of the system tables.
that_data_of_mysql_without_system_tables_stay() (
  DATA_DIR=$LOCAL/data
  mariadb-install-db() { mkdir "$DATA_DIR/mysql.new/mysql"; }
  mkdir -p "$DATA_DIR/mysql/seckill"
  refuses_with 'put it aside' create_mysql_data mysql && [[ -e $DATA_DIR/mysql/seckill ]] || exit
  (ls() { false; } && refuses_with 'cannot be listed' create_mysql_data mysql && [[ -e $DATA_DIR/mysql/seckill ]]) || exit
  # Seen too late.
  (mariadb-install-db() { mkdir -p "$DATA_DIR/mysql/seckill"; } && rm -r "$DATA_DIR/mysql" &&
    refuses_with 'put in its place' create_mysql_data mysql && [[ -e $DATA_DIR/mysql/seckill ]]) || exit
  rmdir "$DATA_DIR/mysql/seckill"
  create_mysql_data mysql && [[ -e $DATA_DIR/mysql/mysql ]]
)

that_the_other_node_is_the_standby_after_a_promotion() (
  use_ha
  DATA_DIR=$LOCAL
  [[ $(mysql_primary) == mysql-1 && $(mysql_standby) == mysql-2 ]]
  echo mysql-2 >"$LOCAL/mysql-primary"
  [[ $(mysql_primary) == mysql-2 && $(mysql_standby) == mysql-1 && $(mysql_role mysql-1 mysql-2) != *MASTER* && $(mysql_role mysql-2 mysql-2) == *semi-sync-master-enabled=ON* ]] || return
  echo mysql-3 >"$LOCAL/mysql-primary"
  refuses_with 'must name one of mysql-1 mysql-2' start_mysql mysql-1
)

# Servers are pretended: each statement is written down, and one fails.
that_a_primary_stays_closed_until_both_servers_say_what_they_have() (
  use_ha
  DATA_DIR=$LOCAL
  mysql_as_root() { echo "$*" >>"$LOCAL/asked" && [[ "$*" != "$FAILS" ]]; }
  for FAILS in 'mysql-2 -N -e SELECT @@gtid_binlog_pos' 'mysql-1 -N -e SELECT @@gtid_binlog_state'; do
    refuses_with 'cannot be read' follow_mysql_primary || exit
  done
  ! grep 'read_only = OFF' "$LOCAL/asked"
)

that_a_standby_is_copied_over_only_when_it_says_that_it_is_empty() (
  use_ha
  DATA_DIR=$LOCAL
  mysql_knows() { true; }
  copy_mysql_primary() { touch "$LOCAL/copied"; }
  mysql_as_root() { [[ "$*" != *gtid_binlog_pos ]] || { [[ $1 == mysql-1 ]] && echo 0-1-7; }; }
  refuses_with 'mysql-2 cannot be read' follow_mysql_primary && [[ ! -e $LOCAL/copied ]]
)

# A promotion trusts the mark once the primary is dead.
that_no_standby_is_in_step_with_what_was_not_read() (
  use_ha
  DATA_DIR=$LOCAL
  is_running() { true; }
  mysql_knows() { true; }
  mysql_follows() { true; }
  in_step_identity() { echo "$1"; }
  mysql_as_root() {
    case "$*" in
      'mysql-1 '*gtid_binlog_pos) [[ ! -e $LOCAL/dead ]] ;;
      'mysql-2 '*gtid_binlog_pos) echo 0-1-7 ;;
      *semi_sync_master_enabled*) touch "$LOCAL/dead" ;;
      *MASTER_GTID_WAIT*) echo 0 ;;
    esac
  }
  echo mysql-1 >"$LOCAL/mysql-alone"
  refuses_with 'mysql-1 cannot be read' follow_mysql_primary && [[ ! -e $LOCAL/mysql-in-step && -e $LOCAL/mysql-alone ]]
)

that_the_runbook_never_removes_the_primary() {
  local choice primary S
  choice=$(grep -o 'S=mysql-2; .*; scripts/kill \$S; rm' "$ROOT/docs/runbooks.md")
  cd "$LOCAL"
  mkdir -p .local/data
  for primary in '' mysql-1 mysql-2; do
    [[ -z $primary ]] || echo "$primary" >.local/data/mysql-primary
    eval "${choice%; scripts/kill*}"
    [[ $S != "${primary:-mysql-1}" ]]
  done
}
