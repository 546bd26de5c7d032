# shellcheck shell=bash
# scripts/backup and scripts/restore. The proof in mysql.sh runs backups.

that_up_refuses_half_a_database() {
  local tree=$LOCAL/half
  mkdir -p "$tree/.local/data"
  cp -r "$ROOT/scripts" "$tree/"
  touch "$tree/.local/data/restoring"
  # The port ends what does not refuse.
  (SECKILL_ADMIN_PORT=x && export SECKILL_ADMIN_PORT && refuses_with 'scripts/restore did not end' "$tree/scripts/up" &&
    refuses_with SECKILL_ADMIN_PORT "$tree/scripts/up" --servers)
}

that_a_list_of_orders_names_skus_and_no_shards() {
  eval "$(sed -n '/^orders_written() {/,/^}/p' "$ROOT/scripts/restore")"
  local sku
  for sku in 7 1001 4503599627386513 9007199254740975; do
    printf '### %s\n' 'INSERT INTO `seckill`.`orders`' SET "  @1=$sku" '  @2=7' "  @3=$sku" '  @4=2' '  @5=99' "  @6='key'" "  @7='PAID'"
  done | orders_written | cut -f 3 | sort -n | xargs >"$LOCAL/skus"
  [[ $(<"$LOCAL/skus") == "7 1001 1001 281474976710654" ]]
}

that_the_position_of_a_dump_is_read_without_the_rest_of_it() {
  # shellcheck source=/dev/null
  . "$ROOT/scripts/lib/backup.sh"
  mkfifo "$LOCAL/dump"
  { printf '%s\n' '--' "-- CHANGE MASTER TO MASTER_LOG_FILE='mysql-bin.000003', MASTER_LOG_POS=344;" && sleep 60; } >"$LOCAL/dump" &
  [[ $(timeout 20 bash -c "$(declare -f position_of); position_of '$LOCAL/dump'") == 'mysql-bin.000003 344' ]]
  kill $!
  [[ $(position_of <(echo "-- CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE='binlog.000012', SOURCE_LOG_POS=158;")) == 'binlog.000012 158' ]]
}

# A dump, and three binary logs after it, of which the last has order 3 and its archive alone, dated an hour later. Before it
# the server has removed the first, as it does after three days.
backups() {
  local backup=$PAIR/backup all first
  on mysql-1 "CREATE DATABASE seckill; USE seckill;
    CREATE TABLE products (sku_id BIGINT PRIMARY KEY, state TEXT, decides TEXT);
    CREATE TABLE orders (order_id INT PRIMARY KEY, user_id INT, sku_id INT, quantity INT, unit_price_cents INT, request_id TEXT,
      status TEXT, created_at DATETIME(6) DEFAULT NOW(6));
    CREATE TABLE order_history LIKE orders;
    CREATE TABLE payment (order_id INT PRIMARY KEY, state TEXT);
    INSERT INTO products VALUES (4503599627386512, 'OPEN', 'REDIS'), (1001, 'OPEN', 'REDIS'), (1002, 'CLOSED', 'REDIS'), (1003, 'OPEN', 'MYSQL')" && order 1 &&
    back_up && order 2 && on mysql-1 "UPDATE seckill.orders SET status = 'PAID' WHERE order_id = 1" && half_a_copy && back_up && order 4 && back_up &&
    on mysql-1 "PURGE BINARY LOGS TO '$(basename "$(logs_of_backup | tail -n 1)")'" &&
    order 3 'SET TIMESTAMP = UNIX_TIMESTAMP() + 3600' && on mysql-1 "SET TIMESTAMP = UNIX_TIMESTAMP() + 3600; USE seckill; BEGIN;
      INSERT INTO order_history SELECT * FROM orders WHERE order_id = 3; DELETE FROM orders WHERE order_id = 3; COMMIT" && back_up && all=$(contents) &&
    refuses_with 'the database is not empty' "$PAIR/scripts/restore" "$backup" && [[ $(contents) == "$all" ]] && empty &&
    refuses_with 'before the dump' "$PAIR/scripts/restore" "$backup" --until "$(date -u -d '-1 hour' '+%F %T')" && is_empty &&
    first=$(logs_of_backup | head -n 1) && mv "$first" "$LOCAL/gap" &&
    refuses_with 'is missing' "$PAIR/scripts/restore" "$backup" && mv "$LOCAL/gap" "$first" &&
    interrupted_restores && empty &&
    "$PAIR/scripts/restore" "$backup" && [[ $(contents) == "$all" && $(<"$DATA_DIR/restored") == 1001 && ! -e $DATA_DIR/restoring ]] &&
    [[ $(wc -l <"$backup/not-restored.tsv") == 1 ]] && empty &&
    rm "$backup/dumped-at" && "$PAIR/scripts/restore" "$backup" --until "$(date -u -d '+30 minutes' '+%F %T')" &&
    [[ $(contents) == "$(grep -v '^3' <<<"$all")" ]] && [[ $(sed 1d "$backup/not-restored.tsv") == $'3\t7\t1001\t1\tkey-3\tCONFIRMED' ]] &&
    on mysql-1 'DROP DATABASE seckill'
}

# In the logs, whose decoder fails here, the database is incomplete. After them only the list of what is not restored is missing.
interrupted_restores() {
  mkdir "$LOCAL/broken" && printf '#!/bin/sh\nexit 1\n' >"$LOCAL/broken/mariadb-binlog" && chmod 755 "$LOCAL/broken/mariadb-binlog" &&
    (PATH=$LOCAL/broken:$PATH && refuses_with 'the database is incomplete' "$PAIR/scripts/restore" "$backup") &&
    refuses_with 'the database is incomplete' "$PAIR/scripts/restore" "$backup" &&
    empty &&
    mv "$LOCAL/broken/mariadb-binlog" "$LOCAL/broken/awk" &&
    (PATH=$LOCAL/broken:$PATH && refuses_with 'the database is restored' "$PAIR/scripts/restore" "$backup") &&
    [[ $(contents) == "$all" && $(<"$DATA_DIR/restored") == 1001 && ! -e $DATA_DIR/restoring ]] && rm "$DATA_DIR/restored"
}

half_a_copy() { # of a binary log; the next call makes it whole
  mkdir "$LOCAL/half" && printf '#!/bin/sh\ncase $1 in binlog.*) head -c 300 $1; exit 1 ;; esac\nexec /bin/cat "$@"\n' >"$LOCAL/half/cat" &&
    chmod 755 "$LOCAL/half/cat" && (PATH=$LOCAL/half:$PATH && refuses_with 'cannot be copied' "$PAIR/scripts/backup" "$backup")
}

back_up() {
  "$PAIR/scripts/backup" "$backup"
}

logs_of_backup() {
  find "$backup" -name 'binlog.0*' | sort
}

order() { # ID [STATEMENT]: stores an order and its payment
  on mysql-1 "${2:-DO 0}; USE seckill; BEGIN; INSERT INTO payment VALUES ($1, 'CHARGED');
    INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id, status)
    VALUES ($1, 7, 1001, 1, 9900, 'key-$1', 'CONFIRMED'); COMMIT"
}

contents() {
  on mysql-1 'USE seckill; SELECT * FROM products ORDER BY 1; SELECT * FROM orders ORDER BY 1; SELECT * FROM order_history; SELECT * FROM payment ORDER BY 1'
}

is_empty() { # nothing was begun, either
  [[ $(on mysql-1 "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'seckill'") == 0 && ! -e $DATA_DIR/restoring ]]
}

empty() {
  on mysql-1 'DROP DATABASE seckill; CREATE DATABASE seckill'
}

# A log of MySQL begins with an event of 122 bytes, of which the first four are a time and the 22nd byte of the file says that
# it is open; MariaDB's event has 252. What follows is written later.
that_a_binary_log_keeps_its_mark_as_it_grows() (
  # shellcheck source=/dev/null
  . "$ROOT/scripts/lib/backup.sh"
  log() { printf '\xfebin%s%13s%s%104s%s' "$1" '' "$2" '' "$3"; } # TIME OPEN LATER
  log 1000 1 '' >"$LOCAL/young"
  log 1000 0 "$(printf '%200s' later)" >"$LOCAL/old"
  log 1001 1 '' >"$LOCAL/other"
  [[ $(mark_of "$LOCAL/young") == "$(mark_of "$LOCAL/old")" && $(mark_of "$LOCAL/young") != "$(mark_of "$LOCAL/other")" ]]
)

that_a_backup_that_cannot_list_the_logs_says_nothing_of_completeness() (
  # shellcheck source=/dev/null
  . "$ROOT/scripts/lib/backup.sh"
  eval "$(sed -n '/^[a-z_]*logs() {/,/^}/p' "$ROOT/scripts/backup")"
  DIR=$LOCAL PRIMARY=mysql
  echo "-- CHANGE MASTER TO MASTER_LOG_FILE='binlog.000002', MASTER_LOG_POS=344;" >"$LOCAL/dump.sql"
  echo mark >"$LOCAL/first-log"
  mark_at_primary() { echo mark; }
  at_primary() { echo log; }
  sql() { if [[ $1 == SHOW* ]]; then "$LISTED"; else LISTED=$FLUSHED; fi; }
  lost() { false; }
  renamed() { printf 'other.%06d\t1\n' 1 2 3; }
  all() { printf 'binlog.%06d\t1\n' 2 3; }
  LISTED=lost && refuses_with 'cannot be listed' add_logs || exit
  LISTED=all FLUSHED=lost && refuses_with 'cannot be listed' add_logs || exit
  LISTED=all FLUSHED=renamed && refuses_with 'lacks binlog.000002' add_logs || exit
  LISTED=all FLUSHED=all && [[ $(add_logs) == *'logs added: 1' && -e $LOCAL/binlog.000002 ]]
)

# The server has the log: only the reading has failed, and the backup can go on.
that_a_backup_whose_log_is_not_read_is_not_given_up() (
  # shellcheck source=/dev/null
  . "$ROOT/scripts/lib/backup.sh"
  eval "$(sed -n '/^[a-z_]*logs() {/,/^}/p' "$ROOT/scripts/backup")"
  DIR=$LOCAL PRIMARY=mysql
  echo "-- CHANGE MASTER TO MASTER_LOG_FILE='binlog.000002', MASTER_LOG_POS=344;" >"$LOCAL/dump.sql"
  printf '%120s' log | mark_of - >"$LOCAL/first-log"
  sql() { xargs -n 1 printf 'binlog.%06d\t1\n' <<<"$LISTED"; }
  at_primary() { printf '%120s' "$READ" && [[ $READ ]]; }
  LISTED='2 3' READ='' && refuses_with 'binlog.000002 of mysql cannot be read' add_logs || exit
  LISTED='2 3' READ='other' && refuses_with 'begin a new backup' add_logs || exit
  LISTED='3 4' READ='' && refuses_with 'begin a new backup' add_logs || exit
  LISTED='2 3' READ=log && [[ $(add_logs) == *'logs added: 1' ]]
)

# Debian's mysqlbinlog is MariaDB's.
that_restore_refuses_what_it_cannot_restore() {
  local tree=$LOCAL/restored
  mkdir -p "$tree/.local" "$LOCAL/backup" "$LOCAL/bin"
  cp -r "$ROOT/scripts" "$tree/"
  echo 'docker single' >"$tree/.local/mode"
  echo "-- CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE='binlog.000002', SOURCE_LOG_POS=157;" >"$LOCAL/backup/dump.sql"
  touch "$LOCAL/backup/binlog.000002"
  PATH=$LOCAL/bin:$PATH
  machine_has_containers
  decoder_is 'mysqlbinlog Ver 3.5 for debian-linux-gnu at x86_64' && refuses_with 'no mysqlbinlog of MySQL 8' "$tree/scripts/restore" "$LOCAL/backup" &&
    ! grep -q exec "$LOCAL/asked" &&
    decoder_is 'mysqlbinlog  Ver 9.7.4 for Linux on x86_64' && refuses_with 'the database is not empty' "$tree/scripts/restore" "$LOCAL/backup" &&
    printf -- '-- Server version\t10.11.14-MariaDB-log\n' >>"$LOCAL/backup/dump.sql" && rm "$LOCAL/asked" &&
    refuses_with 'binary logs of MariaDB' "$tree/scripts/restore" "$LOCAL/backup" && ! grep -q exec "$LOCAL/asked" &&
    decoder_is '' && rm "$LOCAL/backup/binlog.000002" && refuses_with 'the database is not empty' "$tree/scripts/restore" "$LOCAL/backup" &&
    touch "$LOCAL/backup/binlog.000004" && refuses_with 'before binlog.000004 is missing' "$tree/scripts/restore" "$LOCAL/backup" &&
    echo '2026-01-02 00:00:00' >"$LOCAL/backup/dumped-at" &&
    refuses_with 'is before the dump' "$tree/scripts/restore" "$LOCAL/backup" --until '2026-01-01 00:00:00' &&
    rm "$LOCAL/backup/binlog.000004" && echo 'case "$*" in *"ps --services"*) echo gateway-1 ;; esac' >>"$LOCAL/bin/docker" &&
    refuses_with 'gateway-1 must not run' "$tree/scripts/restore" "$LOCAL/backup"
}

decoder_is() { # VERSION that it prints
  printf '#!/bin/sh\necho "%s"\n' "$1" >"$LOCAL/bin/mysqlbinlog"
  chmod 755 "$LOCAL/bin/mysqlbinlog"
}
