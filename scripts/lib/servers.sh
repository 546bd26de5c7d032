# shellcheck shell=bash
# Private Redis, RabbitMQ and MariaDB as child processes: configuration from deploy/, data and
# sockets under .local, addresses on 127.0.0.1 only. Services that the machine runs are not touched.

RABBIT_DATA=$DATA_DIR/rabbitmq
RABBIT_ETC=$ETC_DIR/rabbitmq
MYSQL_DATA=$DATA_DIR/mysql

start_servers() { # all at once, then waits for each; a server that runs already gets its users again
  local wait_for=()
  if is_running redis; then load_redis_users; else start_redis && wait_for+=(redis); fi
  if is_running rabbitmq; then load_rabbitmq_users; else start_rabbitmq && wait_for+=(rabbitmq); fi
  if ! is_running mysql; then start_mysql && wait_for+=(mysql); fi
  ((${#wait_for[@]} == 0)) || say "waiting for ${wait_for[*]}"
  wait_ready redis Redis 60 redis_answers
  wait_ready mysql MariaDB 120 mysql_answers
  grant_mysql_users
  wait_ready rabbitmq RabbitMQ 180 rabbitmq_answers
  say "Redis, RabbitMQ and MariaDB are ready"
}

start_redis() {
  mkdir -p "$DATA_DIR/redis"
  write_redis_users
  start_process redis redis-server "$ROOT/deploy/redis/redis.conf" \
    --port "$REDIS_PORT" --dir "$DATA_DIR/redis" --aclfile "$ETC_DIR/users.acl" --daemonize no
}

write_redis_users() {
  redis_users "$(redis_version)" | write_file "$ETC_DIR/users.acl"
}

load_redis_users() {
  write_redis_users
  redis_as_admin acl load >/dev/null || fail "Redis does not accept its users; see $LOG_DIR/redis.log"
}

redis_users() { # VERSION of the server; one line per user, as Redis requires
  local newer=''
  ! at_least "$1" 7.2 || newer=+client\|setinfo
  render "$ROOT/deploy/redis/users.acl" "SINCE_7_2=$newer" \
    "GATEWAY=$(sha256_of "$REDIS_GATEWAY_PASSWORD")" "RELAY=$(sha256_of "$REDIS_RELAY_PASSWORD")" \
    "CONSUMER=$(sha256_of "$REDIS_CONSUMER_PASSWORD")" "ADMIN=$(sha256_of "$REDIS_ADMIN_PASSWORD")" |
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

redis_answers() {
  [[ $(redis_as_admin ping) == PONG ]]
}

redis_as_admin() { # COMMAND…; the password goes through the environment, which only this user can read
  REDISCLI_AUTH=$REDIS_ADMIN_PASSWORD redis-cli -p "$REDIS_PORT" --user admin "$@"
}

start_rabbitmq() {
  start_epmd
  mkdir -p "$RABBIT_DATA"
  write_rabbitmq_users
  rabbitmq_addresses | write_file "$RABBIT_ETC/conf.d/10-local.conf"
  write_file "$RABBIT_ETC/rabbitmq-env.conf" </dev/null
  write_file "$RABBIT_ETC/enabled_plugins" <"$ROOT/deploy/rabbitmq/enabled_plugins"
  (
    rabbitmq_environment
    start_process rabbitmq /usr/lib/rabbitmq/bin/rabbitmq-server
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
rabbitmq_environment() {
  export HOME=$RABBIT_DATA RUNNING_UNDER_SYSTEMD=true
  export ERL_EPMD_PORT=$EPMD_PORT ERL_EPMD_ADDRESS=127.0.0.1
  export RABBITMQ_NODENAME=seckill@localhost RABBITMQ_DIST_PORT=$ERLANG_PORT
  export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}'
  export RABBITMQ_CONF_ENV_FILE=$RABBIT_ETC/rabbitmq-env.conf
  export RABBITMQ_CONFIG_FILE=$ROOT/deploy/rabbitmq/rabbitmq.conf RABBITMQ_CONFIG_FILES=$RABBIT_ETC/conf.d
  export RABBITMQ_ADVANCED_CONFIG_FILE=$RABBIT_ETC/none.config
  export RABBITMQ_ENABLED_PLUGINS_FILE=$RABBIT_ETC/enabled_plugins
  export RABBITMQ_MNESIA_BASE=$RABBIT_DATA/mnesia RABBITMQ_LOG_BASE=$LOG_DIR RABBITMQ_LOGS=$LOG_DIR/rabbitmq.server.log
  export RABBITMQ_GENERATED_CONFIG_DIR=$RABBIT_DATA/config RABBITMQ_PID_FILE=$RABBIT_DATA/pid
}

write_rabbitmq_users() {
  rabbitmq_definitions | write_file "$RABBIT_ETC/definitions.json"
}

load_rabbitmq_users() {
  write_rabbitmq_users
  rabbitmq_api /api/definitions -H 'Content-Type: application/json' --data-binary "@$RABBIT_ETC/definitions.json" ||
    fail "RabbitMQ does not accept its users; see $LOG_DIR/rabbitmq.server.log"
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

rabbitmq_addresses() {
  cat <<END
listeners.tcp.1 = 127.0.0.1:$AMQP_PORT
management.tcp.ip = 127.0.0.1
management.tcp.port = $MANAGEMENT_PORT
prometheus.tcp.ip = 127.0.0.1
prometheus.tcp.port = $PROMETHEUS_PORT
load_definitions = $RABBIT_ETC/definitions.json
END
}

# The users exist, and the port that services use is open.
rabbitmq_answers() {
  port_answers "$AMQP_PORT" && rabbitmq_api /api/permissions/seckill/consumer
}

rabbitmq_api() { # PATH [CURL-ARGUMENT…]: succeeds when the answer is a success
  curl -sf -o /dev/null -m 10 --config <(printf 'user = "admin:%s"\n' "$AMQP_ADMIN_PASSWORD") \
    "http://127.0.0.1:$MANAGEMENT_PORT$1" "${@:2}"
}

start_mysql() {
  [[ -d $MYSQL_DATA/mysql ]] || create_mysql_data
  start_process mysql mariadbd --defaults-file="$ROOT/deploy/mysql/my.cnf" --user="$(id -un)" \
    --datadir="$MYSQL_DATA" --bind-address=127.0.0.1 --port="$MYSQL_PORT" --socket=mysql.sock \
    --pid-file=mysqld.pid --tmpdir="$MYSQL_DATA"
}

# Into a directory of another name first: an incomplete one would look like a database.
create_mysql_data() {
  say "creating the MariaDB data directory"
  rm -rf "$MYSQL_DATA.new" "$MYSQL_DATA"
  mkdir -p "$MYSQL_DATA.new" "$LOG_DIR"
  # A starting mariadbd removes other processes' files in a shared temporary directory.
  TMPDIR=$MYSQL_DATA.new mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$MYSQL_DATA.new" --skip-test-db \
    --auth-root-authentication-method=socket --auth-root-socket-user="$(id -un)" >"$LOG_DIR/mysql-install.log" 2>&1 ||
    fail "the MariaDB data directory could not be created; see $LOG_DIR/mysql-install.log"
  mv "$MYSQL_DATA.new" "$MYSQL_DATA"
}

# Through the socket, whose path is relative because the system bounds it to 107 bytes.
mysql_as_root() {
  (cd "$MYSQL_DATA" && exec mariadb --no-defaults --socket=./mysql.sock --user="$(id -un)" "$@")
}

mysql_answers() {
  mysql_as_root -e 'SELECT 1'
}

grant_mysql_users() {
  mysql_users | mysql_as_root >>"$LOG_DIR/mysql-users.log" 2>&1 ||
    fail "the MariaDB users could not be created; see $LOG_DIR/mysql-users.log"
}

mysql_users() {
  render "$ROOT/deploy/mysql/users.sql" "OWNER=$MYSQL_OWNER_PASSWORD" \
    "CONSUMER=$MYSQL_CONSUMER_PASSWORD" "GATEWAY=$MYSQL_GATEWAY_PASSWORD"
}
