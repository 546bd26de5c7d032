# shellcheck shell=bash
# Private Redis, RabbitMQ and MariaDB as child processes: configuration from deploy/, data and
# sockets under .local, addresses on 127.0.0.1 only. Services that the machine runs are not touched.

RABBITMQ_ETC=$ETC_DIR/rabbitmq
# The standby of MySQL, where the pipeline has started without it.
LEFT_OUT=

start_servers() { # all at once, then waits for each; servers that run already get their users again
  local node wait_for=()
  renew_redis_users
  for node in $REDIS_NODES; do
    if ! is_running "$node"; then start_redis "$node" && wait_for+=("$node"); fi
  done
  start_epmd
  for node in $RABBITMQ_NODES; do
    if ! is_running "$node"; then start_rabbitmq "$node" && wait_for+=("$node"); fi
  done
  for node in $MYSQL_NODES; do
    if ! is_running "$node"; then start_mysql "$node" && wait_for+=("$node"); fi
  done
  for node in $SENTINELS; do
    if ! is_running "$node"; then start_sentinel "$node" && wait_for+=("$node"); fi
  done
  ((${#wait_for[@]} == 0)) || say "waiting for ${wait_for[*]}"
  await_servers
  say "Redis, RabbitMQ and MariaDB are ready${LEFT_OUT:+, without the standby $LEFT_OUT}"
}

await_servers() {
  local node
  for node in $REDIS_NODES; do wait_ready "$node" "$node" 60 redis_answers "$node"; done
  for node in $SENTINELS; do wait_ready "$node" "$node" 60 sentinel_answers "$node"; done
  await_mysql
  grant_mysql_users
  for node in $RABBITMQ_NODES; do wait_ready "$node" "$node" 180 rabbitmq_answers "$node"; done
  load_rabbitmq_users "$node"
}

# Redis writes its role into the first file, and Sentinel's changes of it; our own settings follow, and win.
start_redis() { # NODE
  local data=$DATA_DIR/$1 settings=(--include "$ROOT/deploy/redis/redis.conf")
  mkdir -p "$data"
  [[ -e $data/redis.conf ]] || redis_role "$1" | write_file "$data/redis.conf"
  if is_ha; then
    redis_ha | write_file "$ETC_DIR/redis-ha.conf"
    settings+=(--include "$ETC_DIR/redis-ha.conf")
  fi
  start_process "$1" redis-server "$data/redis.conf" "${settings[@]}" \
    --port "$(port_of REDIS "$1")" --dir "$data" --aclfile "$ETC_DIR/users.acl" --daemonize no
}

redis_ha() {
  render "$ROOT/deploy/redis/ha.conf" "REPLICA=$REDIS_REPLICA_PASSWORD"
}

# At a start without data. A replica of the node that Sentinels name, or of another one that has data: a primary that came back
# empty would empty them. Sentinels make one of these the primary.
redis_role() { # NODE
  local first=${REDIS_NODES%% *} node of='' named
  named=$(primary_of_sentinels)
  for node in $REDIS_NODES; do
    [[ $node != "$1" && -e $DATA_DIR/$node/redis.conf ]] || continue
    [[ -n $of && $(port_of REDIS "$node") != "$named" ]] || of=$node
  done
  [[ -z $of && $1 == "$first" ]] || printf 'replicaof 127.0.0.1 %s\n' "$(port_of REDIS "${of:-$first}")"
}

# The port of the primary, as the Sentinels have stored it; none before their first start.
primary_of_sentinels() {
  local node
  for node in $SENTINELS; do
    [[ ! -e $DATA_DIR/$node/sentinel.conf ]] ||
      sed -n 's/^sentinel monitor seckill 127\.0\.0\.1 \([0-9]*\) .*/\1/p' "$DATA_DIR/$node/sentinel.conf"
  done | tail -n 1
}

# Sentinel stores what it knows in its configuration file.
start_sentinel() { # NODE
  local data=$DATA_DIR/$1
  if [[ ! -e $data/sentinel.conf ]]; then
    sentinel_start 127.0.0.1 "$(port_of REDIS "${REDIS_NODES%% *}")" | write_file "$data/sentinel.conf"
  fi
  # The file has the password of its first start, or none.
  { grep -vE '^sentinel (auth-pass|sentinel-user|sentinel-pass) ' "$data/sentinel.conf" && sentinel_login; } | write_file "$data/sentinel.conf"
  start_process "$1" redis-server "$data/sentinel.conf" --sentinel \
    --port "$(port_of SENTINEL "$1")" --bind 127.0.0.1 --dir "$data" --aclfile "$ETC_DIR/sentinel.acl" --daemonize no
}

sentinel_login() { # of Sentinels at Redis and at each other
  printf 'sentinel auth-pass seckill %s\nsentinel sentinel-user sentinel\nsentinel sentinel-pass %s\n' \
    "$REDIS_SENTINEL_PASSWORD" "$REDIS_SENTINEL_PASSWORD"
}

sentinel_as_admin() { # NODE COMMAND…
  REDISCLI_AUTH=$REDIS_ADMIN_PASSWORD redis-cli -p "$(port_of SENTINEL "$1")" --user admin "${@:2}"
}

sentinel_start() { # HOST PORT of the first primary
  render "$ROOT/deploy/redis/sentinel.conf" "HOST=$1" "PORT=$2" "PASSWORD=$REDIS_SENTINEL_PASSWORD"
}

# Sentinels cannot follow Redis nodes to other ports.
refuse_moved_redis() {
  local node
  for node in $SENTINELS; do
    [[ ! -e $DATA_DIR/$node/sentinel.conf ]] || sentinel_ports_kept "$DATA_DIR/$node/sentinel.conf" ||
      fail "the Redis nodes were created on other ports, $(primary_of_sentinels) is one of them; choose these, or run scripts/down --wipe"
  done
}

sentinel_ports_kept() { # FILE: does it monitor one of our nodes?
  local node ports=()
  for node in $REDIS_NODES; do ports+=(-e "^sentinel monitor seckill 127.0.0.1 $(port_of REDIS "$node") "); done
  grep -q "${ports[@]}" "$1"
}

# A majority of Sentinels is there, and the primary that it names takes writes.
sentinel_answers() { # NODE
  local address primary
  address=$(sentinel_as_admin "$1" sentinel get-master-addr-by-name seckill)
  [[ $(sentinel_as_admin "$1" sentinel ckquorum seckill) == OK* ]] || return 1
  for primary in $REDIS_NODES; do
    [[ $(port_of REDIS "$primary") != "${address##*$'\n'}" ]] ||
      redis_as_admin "$primary" info replication | grep -q '^min_slaves_good_slaves:[1-9]' || return 1
  done
}

# shellcheck disable=SC2086 # names are words
renew_redis_users() {
  renew_users users.acl redis_as_admin $REDIS_NODES
  [[ -z $SENTINELS ]] || renew_users sentinel.acl sentinel_as_admin $SENTINELS
}

# Reading the users again closes connections, so only when they have changed. Without the file they have, at the next start.
renew_users() { # TEMPLATE COMMAND-OF-ADMIN NODE…
  local node users
  users=$(acl_of "$1" "$(redis_version)")
  [[ $users != "$(cat "$ETC_DIR/$1" 2>/dev/null)" ]] || return 0
  write_file "$ETC_DIR/$1" <<<"$users"
  for node in "${@:3}"; do
    ! is_running "$node" || [[ $("$2" "$node" acl load) == OK ]] ||
      { rm "$ETC_DIR/$1" && fail "$node does not accept its users; see $LOG_DIR/$node.log"; }
  done
}

redis_users() { # VERSION of the server
  acl_of users.acl "$1"
}

acl_of() { # TEMPLATE VERSION of the server; one line per user, as Redis requires
  local newer=''
  ! at_least "$2" 7.2 || newer=+client\|setinfo
  render "$ROOT/deploy/redis/$1" "SINCE_7_2=$newer" \
    "GATEWAY=$(sha256_of "$REDIS_GATEWAY_PASSWORD")" "RELAY=$(sha256_of "$REDIS_RELAY_PASSWORD")" \
    "CONSUMER=$(sha256_of "$REDIS_CONSUMER_PASSWORD")" "ADMIN=$(sha256_of "$REDIS_ADMIN_PASSWORD")" \
    "REPLICA=$(sha256_of "$REDIS_REPLICA_PASSWORD")" "SENTINEL=$(sha256_of "$REDIS_SENTINEL_PASSWORD")" |
    awk '/^#/ || /^$/ { next } /^user / && line { print line; line = "" } { $1 = $1; line = line $0 " " } END { print line }'
}

at_least() { # VERSION WANTED
  [[ $(printf '%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]
}

redis_version() {
  redis-server --version | sed 's/.* v=\([0-9.]*\).*/\1/'
}

sha256_of() { # TEXT: hex
  printf %s "$1" | sha256sum | cut -c 1-64
}

redis_answers() { # NODE
  [[ $(redis_as_admin "$1" ping) == PONG ]]
}

redis_as_admin() { # NODE COMMAND…; the password goes through the environment, which only this user can read
  REDISCLI_AUTH=$REDIS_ADMIN_PASSWORD redis-cli -p "$(port_of REDIS "$1")" --user admin "${@:2}"
}

start_rabbitmq() { # NODE
  rabbitmq_definitions | write_file "$RABBITMQ_ETC/definitions.json"
  rabbitmq_addresses "$1" | write_file "$ETC_DIR/$1/conf.d/10-local.conf"
  ! is_ha || rabbitmq_cluster | write_file "$ETC_DIR/$1/conf.d/20-cluster.conf"
  write_file "$RABBITMQ_ETC/rabbitmq-env.conf" </dev/null
  write_file "$RABBITMQ_ETC/enabled_plugins" <"$ROOT/deploy/rabbitmq/enabled_plugins"
  printf %s "$ERLANG_COOKIE" | write_file "$DATA_DIR/$1/.erlang.cookie" 400
  (
    rabbitmq_environment "$1"
    cd "$DATA_DIR/$1" || exit # Mnesia dumps its core where it runs
    start_process "$1" /usr/lib/rabbitmq/bin/rabbitmq-server
  )
}

# A separate port mapper, so that a system RabbitMQ's is not used and none is left running.
start_epmd() {
  ! is_running epmd || return 0
  start_process epmd epmd -port "$EPMD_PORT" -address 127.0.0.1
  wait_ready epmd "the Erlang port mapper" 20 port_answers "$EPMD_PORT"
}

# Every path and port of the node. RUNNING_UNDER_SYSTEMD makes the start script become the Erlang
# machine instead of its parent: the pid is that of the server, which stops in order at SIGTERM.
rabbitmq_environment() { # NODE
  local data=$DATA_DIR/$1
  export HOME=$data RUNNING_UNDER_SYSTEMD=true
  # A node that finds no port mapper would start one that nobody stops.
  export ERL_EPMD_PORT=$EPMD_PORT ERL_EPMD_ADDRESS=127.0.0.1 ERL_AFLAGS='-start_epmd false'
  RABBITMQ_NODENAME=$(rabbitmq_name "$1") RABBITMQ_DIST_PORT=$(port_of ERLANG "$1")
  export RABBITMQ_NODENAME RABBITMQ_DIST_PORT
  export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}'
  export RABBITMQ_CONF_ENV_FILE=$RABBITMQ_ETC/rabbitmq-env.conf
  export RABBITMQ_CONFIG_FILE=$ROOT/deploy/rabbitmq/rabbitmq.conf RABBITMQ_CONFIG_FILES=$ETC_DIR/$1/conf.d
  export RABBITMQ_ADVANCED_CONFIG_FILE=$RABBITMQ_ETC/none.config
  export RABBITMQ_ENABLED_PLUGINS_FILE=$RABBITMQ_ETC/enabled_plugins
  export RABBITMQ_MNESIA_BASE=$data/mnesia RABBITMQ_LOG_BASE=$LOG_DIR RABBITMQ_LOGS=$LOG_DIR/$1.server.log
  export RABBITMQ_GENERATED_CONFIG_DIR=$data/config RABBITMQ_PID_FILE=$data/pid
}

rabbitmq_name() { # NODE
  local number
  number=$(number_of "$1")
  printf 'seckill%s@localhost' "${number:+-$number}"
}

load_rabbitmq_users() { # NODE
  rabbitmq_definitions | rabbitmq_api "$1" /api/definitions -H 'Content-Type: application/json' --data-binary @- ||
    fail "$1 does not accept its users; its log says why"
}

rabbitmq_definitions() {
  render "$ROOT/deploy/rabbitmq/definitions.json" \
    "GATEWAY=$(rabbitmq_hash "$AMQP_GATEWAY_PASSWORD")" "RELAY=$(rabbitmq_hash "$AMQP_RELAY_PASSWORD")" \
    "CONSUMER=$(rabbitmq_hash "$AMQP_CONSUMER_PASSWORD")" "ADMIN=$(rabbitmq_hash "$AMQP_ADMIN_PASSWORD")"
}

rabbitmq_hash() { # PASSWORD: four bytes of salt, then SHA-256 of salt and password
  local salt
  salt=$(openssl rand -hex 4)
  from_hex "$salt$({ from_hex "$salt" && printf %s "$1"; } | sha256sum | cut -c 1-64)" | base64 -w 0
}

rabbitmq_addresses() { # NODE
  cat <<END
listeners.tcp.1 = 127.0.0.1:$(port_of AMQP "$1")
management.tcp.ip = 127.0.0.1
management.tcp.port = $(port_of MANAGEMENT "$1")
prometheus.tcp.ip = 127.0.0.1
prometheus.tcp.port = $(port_of PROMETHEUS "$1")
load_definitions = $RABBITMQ_ETC/definitions.json
END
}

rabbitmq_cluster() {
  local node
  cat "$ROOT/deploy/rabbitmq/cluster.conf"
  for node in $RABBITMQ_NODES; do
    printf 'cluster_formation.classic_config.nodes.%s = %s\n' "$(number_of "$node")" "$(rabbitmq_name "$node")"
  done
}

# The users exist, and the port that services use is open.
rabbitmq_answers() { # NODE
  port_answers "$(port_of AMQP "$1")" && rabbitmq_api "$1" /api/permissions/seckill/consumer
}

rabbitmq_api() { # NODE PATH [CURL-ARGUMENT…]: succeeds when the answer is a success
  curl -q -sf --noproxy '*' -o /dev/null -m 10 --config <(printf 'user = "admin:%s"\n' "$AMQP_ADMIN_PASSWORD") \
    "http://127.0.0.1:$(port_of MANAGEMENT "$1")$2" "${@:3}"
}

start_mysql() { # NODE
  local data=$DATA_DIR/$1 role=() primary
  primary=$(mysql_primary) || return
  [[ -d $data/mysql ]] || create_mysql_data "$1"
  if is_ha; then mapfile -t role < <(mysql_role "$1" "$primary"); fi
  start_process "$1" mariadbd --defaults-file="$ROOT/deploy/mysql/my.cnf" "${role[@]}" --user="$(id -un)" \
    --datadir="$data" --bind-address=127.0.0.1 --port="$(port_of MYSQL "$1")" --socket=mysql.sock \
    --pid-file=mysqld.pid --tmpdir="$data"
}

# A primary is opened once the standby has shown that it is one. A standby forgets at its start what it wrote as primary and
# no standby has, and applies without waiting for a standby of its own.
mysql_role() { # NODE PRIMARY: options, a line each; the group first, as MariaDB requires
  printf -- '--defaults-group-suffix=-ha\n--server-id=%s\n--read-only=ON\n' "$(number_of "$1")"
  if [[ $1 == "$2" ]]; then
    printf -- '--init-rpl-role=MASTER\n--rpl-semi-sync-master-enabled=ON\n'
  else
    printf -- '--init-rpl-role=SLAVE\n'
  fi
}

mysql_primary() { # scripts/promote has written the file
  local primary=${MYSQL_NODES%% *}
  ! is_ha || primary=$(cat "$DATA_DIR/mysql-primary" 2>/dev/null) || primary=${MYSQL_NODES%% *}
  [[ " $MYSQL_NODES " == *" $primary "* ]] || fail "$DATA_DIR/mysql-primary must name one of $MYSQL_NODES, not '$primary'"
  printf '%s\n' "$primary"
}

mysql_standby() {
  local node primary
  primary=$(mysql_primary) || return
  for node in $MYSQL_NODES; do [[ $node == "$primary" ]] || printf '%s\n' "$node"; done
}

# A primary that may commit alone, as an operator or scripts/promote has decided, serves without its standby, too.
await_mysql() {
  local primary
  primary=$(mysql_primary)
  wait_ready "$primary" "$primary" 120 mysql_answers "$primary"
  if is_ha && mysql_commits_alone "$primary"; then
    join_standby &
    wait $! || { LEFT_OUT=$(mysql_standby) && open_mysql_alone "$primary"; }
  elif is_ha; then
    join_standby
  fi
}

# In a file, because a server starts closed, and waits for a standby.
mysql_commits_alone() { # PRIMARY
  [[ $(cat "$DATA_DIR/mysql-alone" 2>/dev/null) == "$1" ]]
}

open_mysql_alone() { # NODE
  mysql_as_root "$1" -e 'STOP SLAVE; RESET SLAVE ALL;
    SET GLOBAL rpl_semi_sync_master_enabled = OFF, GLOBAL read_only = OFF'
}

join_standby() {
  local standby
  standby=$(mysql_standby)
  (wait_ready "$standby" "$standby" 120 mysql_answers "$standby") ||
    fail "$standby is the standby of MySQL; docs/runbooks.md says how to run without it"
  follow_mysql_primary
}

# A promoted primary waits for a standby from here on, and copies nobody, also if its promotion was interrupted. One accepts
# writes at most.
follow_mysql_primary() {
  local node primary standby position
  primary=$(mysql_primary) standby=$(mysql_standby)
  mysql_as_root "$standby" -e 'SET SESSION lock_wait_timeout = 10; SET GLOBAL read_only = ON' ||
    fail "$standby, the standby, cannot be closed for writes"
  mysql_knows "$primary" "$standby" ||
    fail "$standby has transactions that $primary, the primary according to $DATA_DIR/mysql-primary, does not have. If $standby is the primary, write its name into that file and start again; if its transactions are given up, end it, remove $DATA_DIR/$standby and start again"
  mysql_as_root "$primary" -e 'STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = OFF'
  for node in $MYSQL_NODES; do mysql_replica_user | mysql_as_root "$node"; done
  position=$(mysql_position "$standby") || exit
  [[ $position || -z $(mysql_position "$primary") ]] || copy_mysql_primary "$primary" "$standby"
  # It may still be logged in with a former password, which its file has.
  if ! mysql_follows "$standby" || ! grep -qsxF "$MYSQL_REPLICA_PASSWORD" "$DATA_DIR/$standby/master.info"; then
    say "$standby follows $primary"
    rm -f "$DATA_DIR/mysql-in-step"
    mysql_as_root "$standby" >>"$LOG_DIR/mysql-users.log" 2>&1 <<END ||
STOP SLAVE;
CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=$(port_of MYSQL "$primary"), MASTER_USER='seckill_replica',
  MASTER_PASSWORD='$MYSQL_REPLICA_PASSWORD', MASTER_CONNECT_RETRY=1, MASTER_USE_GTID=slave_pos, MASTER_DEMOTE_TO_SLAVE=1;
START SLAVE;
END
      fail "$standby cannot follow $primary; see $LOG_DIR/mysql-users.log"
  fi
  (wait_ready "$standby" "$standby as a standby" 60 mysql_follows "$standby") ||
    fail "$standby cannot follow $primary: $(mysql_as_root "$standby" -e 'SHOW SLAVE STATUS\G' | sed -nE 's/^ *Last_(IO|SQL)_Error: (.+)/\2/p' | paste -sd ' '); docs/runbooks.md says how to make it anew"
  mysql_as_root "$primary" -e 'SET GLOBAL rpl_semi_sync_master_enabled = ON'
  # Before that it lacks what the primary has committed alone, and must not be promoted.
  position=$(mysql_position "$primary") || exit
  wait_ready "$standby" "$standby with all of $primary" 600 mysql_has "$standby" "$position"
  rm -f "$DATA_DIR/mysql-alone"
  mark_in_step "$standby"
}

# An empty standby cannot begin with binary logs that the primary has removed. Its position comes last: without it the next
# start copies again. A standby's own binary log has no copy, and begins at that position.
copy_mysql_primary() { # PRIMARY STANDBY
  say "$2 is empty: copying $1"
  {
    echo 'STOP SLAVE; SET SESSION sql_log_bin = OFF;'
    mysql_users
    (cd "$DATA_DIR/$1" && exec mariadb-dump --no-defaults --socket=./mysql.sock --user="$(id -un)" --single-transaction --quick \
      --hex-blob --gtid --master-data=2 --databases seckill) |
      sed -E -e '/^-- SET GLOBAL gtid_slave_pos=/{s/^-- (SET GLOBAL gtid_slave_pos=(.*));/\1, GLOBAL gtid_binlog_state=\2;/;h;d}' -e '/^-- Dump completed/G'
  } | mysql_as_root "$2" >>"$LOG_DIR/mysql-users.log" 2>&1 || fail "$1 cannot be copied to $2; see $LOG_DIR/mysql-users.log"
}

# Since then every COMMIT has waited for this process of the standby. One that has restarted fetches again from the primary
# what it had received and not applied.
mark_in_step() { # STANDBY
  { date -u +%FT%TZ && in_step_identity "$1"; } | write_file "$DATA_DIR/mysql-in-step"
}

is_in_step() { # STANDBY
  is_running "$1" && [[ $(sed 1d "$DATA_DIR/mysql-in-step" 2>/dev/null) == "$(in_step_identity "$1")" ]]
}

in_step_identity() { # STANDBY
  echo "$1" && cat "$RUN_DIR/$1.pid"
}

mysql_position() { # NODE: its last transaction, domain-server-number; nothing when it has none
  mysql_as_root "$1" -N -e 'SELECT @@gtid_binlog_pos' || fail "the last transaction of $1 cannot be read"
}

mysql_knows() { # NODE OTHER: has the last transaction of the other in its binary log
  local last states state
  last=$(mysql_position "$2") || exit
  states=$(mysql_as_root "$1" -N -e 'SELECT @@gtid_binlog_state') || fail "the transactions of $1 cannot be read"
  for state in ${states//,/ }; do
    [[ ${state%-*} != "${last%-*}" ]] || ((${state##*-} < ${last##*-})) || return 0
  done
  [[ -z $last ]]
}

mysql_has() { # NODE POSITION [SECONDS]: has applied everything up to it
  [[ $(mysql_as_root "$1" -N -e "SELECT MASTER_GTID_WAIT('$2', ${3:-1})") == 0 ]]
}

mysql_follows() { # NODE: receives and applies
  [[ $(mysql_as_root "$1" -e 'SHOW SLAVE STATUS\G' | grep -c '_Running: Yes$') == 2 ]]
}

# Into a directory of another name first: an incomplete one would look like a database. A damaged disk may have lost the
# system tables alone.
create_mysql_data() { # NODE
  local data=$DATA_DIR/$1 link files=''
  [[ ! -e $data ]] || files=$(ls -A "$data") || fail "$data cannot be listed"
  [[ -z $files ]] || fail "$data has files and no system tables; put it aside first (docs/runbooks.md)"
  say "creating the MariaDB data directory of $1"
  rm -rf "$data.new"
  mkdir -p "$data.new" "$LOG_DIR"
  # mariadb-install-db takes no path with spaces, which TMPDIR may have, too.
  link=$(mktemp -d /tmp/seckill.XXXXXX) || fail "no temporary directory can be made"
  ln -s "$data.new" "$link/data"
  # A starting mariadbd removes other processes' files in a shared temporary directory.
  TMPDIR=$link/data mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$link/data" --skip-test-db \
    --auth-root-authentication-method=socket --auth-root-socket-user="$(id -un)" >"$LOG_DIR/mysql-install.log" 2>&1 ||
    fail "the MariaDB data directory could not be created; see $LOG_DIR/mysql-install.log"
  rm -r "$link"
  mv -T "$data.new" "$data" || fail "the MariaDB data directory $data could not be put in its place"
}

# On each node by itself: a primary that logs it would wait for a standby, which cannot log in yet.
mysql_replica_user() {
  cat <<END
SET SESSION sql_log_bin = OFF;
CREATE USER IF NOT EXISTS 'seckill_replica'@'%';
ALTER USER 'seckill_replica'@'%' IDENTIFIED BY '$MYSQL_REPLICA_PASSWORD';
GRANT REPLICATION SLAVE ON *.* TO 'seckill_replica'@'%';
SET SESSION sql_log_bin = ON;
END
}

# Through the socket, whose path is relative because the system bounds it to 107 bytes.
mysql_as_root() { # NODE ARGUMENT…
  (cd "$DATA_DIR/$1" && exec mariadb --no-defaults --socket=./mysql.sock --user="$(id -un)" "${@:2}")
}

mysql_answers() { # NODE
  mysql_as_root "$1" --connect-timeout=5 -e 'SELECT 1'
}

grant_mysql_users() {
  mysql_users | mysql_as_root "$(mysql_primary)" >>"$LOG_DIR/mysql-users.log" 2>&1 ||
    fail "the MariaDB users could not be created; see $LOG_DIR/mysql-users.log"
}

mysql_users() {
  render "$ROOT/deploy/mysql/users.sql" "OWNER=$MYSQL_OWNER_PASSWORD" \
    "CONSUMER=$MYSQL_CONSUMER_PASSWORD" "GATEWAY=$MYSQL_GATEWAY_PASSWORD"
}
