# shellcheck shell=bash
# The three services as Java processes. Each runs from a copy of its jar: a build in the work tree
# does not change the classes of a running service.

APP_DIR=$LOCAL/app
JAVA_FLAGS=${SECKILL_JAVA_FLAGS:--Xmx512m -XX:MaxDirectMemorySize=192m -XX:+ExitOnOutOfMemoryError}
# As compose.yaml gives them: 40, and the longest seckill.shutdown.delay.
SERVICE_STOP_SECONDS=100

# The consumers first, whose migration makes the tables that the gateways read.
# shellcheck disable=SC2086 # names are words
start_services() {
  local service
  ! is_ha || start_haproxy
  for service in $CONSUMERS; do is_current "$service" || { migrate && break; }; done
  start_all CONSUMER $CONSUMERS
  for service in $CONSUMERS; do await_service "$service" CONSUMER; done
  start_all RELAY $RELAYS
  start_all ADMIN $GATEWAYS
  for service in $RELAYS; do await_service "$service" RELAY; done
  for service in $GATEWAYS; do await_service "$service" ADMIN; done
}

# Changes the tables as their owner, and ends; no service has that password. Marked for scripts/down, which ends it before MySQL.
migrate() {
  say "migrating the tables"
  mkdir -p "$LOG_DIR" "$APP_DIR"
  (
    cd "$APP_DIR" || exit # Spring reads application.* where it runs
    database_environment seckill_owner "$MYSQL_OWNER_PASSWORD"
    # shellcheck disable=SC2086 # flags are words
    PIPELINE_OF=$LOCAL MIGRATION_OF=$LOCAL become "$JAVA" $JAVA_FLAGS -jar "$(jar_of order-consumer)" migrate
  ) >"$LOG_DIR/migration.log" 2>&1 </dev/null 9>&- || fail "the tables could not be migrated; see $LOG_DIR/migration.log"
}

is_current() { # SERVICE: runs from this jar
  is_running "$1" && cmp -s "$(jar_of "$(module_of "$1")")" "$APP_DIR/$1.jar"
}

# Those that do not run start together. Then those of another jar are replaced, each when all before it are ready.
start_all() { # NAME-OF-THEIR-HEALTH-PORT SERVICE…
  local port=$1 service before started=()
  shift
  for service in "$@"; do
    ! is_running "$service" || continue
    start_service "$service"
    started+=("$service")
  done
  for service in "$@"; do
    ! is_current "$service" || continue
    for before in "${started[@]}"; do await_service "$before" "$port"; done
    say "$service has been rebuilt, restarting it"
    stop_processes "$SERVICE_STOP_SECONDS" "$service"
    start_service "$service"
    await_service "$service" "$port"
    started=()
  done
}

start_service() { # SERVICE
  say "starting $1"
  mkdir -p "$APP_DIR"
  cp "$(jar_of "$(module_of "$1")")" "$APP_DIR/$1.jar"
  (
    cd "$APP_DIR" || exit # as migrate does
    common_environment "$1"
    # shellcheck disable=SC2086 # flags are words
    start_process "$1" "$JAVA" $JAVA_FLAGS -jar "$APP_DIR/$1.jar"
  )
}

module_of() { # SERVICE
  case $1 in
    gateway*) echo gateway-service ;;
    relay*) echo relay-service ;;
    *) echo order-consumer ;;
  esac
}

await_service() { # SERVICE NAME-OF-ITS-HEALTH-PORT
  (wait_ready "$1" "$1" 180 service_answers "$(port_of "$2" "$1")") || end_failed_start stop_services <"$LOG_DIR/$1.log"
}

# Admission first, as scripts/down does.
# shellcheck disable=SC2086 # names are words
stop_services() {
  stop_processes "$SERVICE_STOP_SECONDS" $GATEWAYS
  stop_processes "$SERVICE_STOP_SECONDS" $RELAYS $CONSUMERS
}

service_answers() { # HEALTH-PORT
  curl -q -sf --noproxy '*' -o /dev/null -m 5 "http://127.0.0.1:$1/actuator/health/readiness"
}

common_environment() { # SERVICE
  local module property
  module=$(module_of "$1")
  while read -r property; do export "${property?}"; done < <(property_lines)
  export SERVER_ADDRESS=127.0.0.1
  "environment_of_${module//-/_}" "$1"
}

environment_of_gateway_service() { # SERVICE
  SERVER_PORT=$(port_of GATEWAY "$1") SECKILL_ADMIN_PORT=$(port_of ADMIN "$1")
  export SERVER_PORT SECKILL_ADMIN_PORT SECKILL_ADMIN_ADDRESS=127.0.0.1
  redis_environment gateway "$REDIS_GATEWAY_PASSWORD"
  broker_environment gateway "$AMQP_GATEWAY_PASSWORD"
  export SECKILL_CONSUMER_URL=http://127.0.0.1:$CONSUMER_PORT SECKILL_INTERNAL_TOKEN=$INTERNAL_TOKEN
  export SECKILL_SECURITY_HS256_SECRET=$HS256_SECRET SECKILL_DEMO_ENABLED=${SECKILL_DEMO_ENABLED:-true}
  SECKILL_OPS_BROKERUIURL=http://127.0.0.1:$(port_of MANAGEMENT "${RABBITMQ_NODES%% *}")
  export SECKILL_OPS_BROKERUIURL
  # HAProxy names the shopper's address, and notices within 2 s that a process is not ready. Nothing is sold from a
  # promoted Redis that does not sync every write to disk. Event streams leave HAProxy's connections to purchases.
  ! is_ha || export SECKILL_ORDERS_MAXSTREAMS=${SECKILL_ORDERS_MAXSTREAMS:-3000} \
    SECKILL_LIMITS_TRUSTEDPROXIES=${SECKILL_LIMITS_TRUSTEDPROXIES:-127.0.0.1/32} \
    SECKILL_SHUTDOWN_DELAY=${SECKILL_SHUTDOWN_DELAY:-5s} SECKILL_PREHEAT_ALLOWUNSAFEREDIS=${SECKILL_PREHEAT_ALLOWUNSAFEREDIS:-never}
  datasource_environment seckill_gateway "$MYSQL_GATEWAY_PASSWORD"
}

environment_of_relay_service() { # SERVICE
  SERVER_PORT=$(port_of RELAY "$1")
  export SERVER_PORT
  ! is_ha || export SECKILL_RELAY_NAME=$1
  redis_environment relay "$REDIS_RELAY_PASSWORD"
  broker_environment relay "$AMQP_RELAY_PASSWORD"
}

environment_of_order_consumer() { # SERVICE
  SERVER_PORT=$(port_of CONSUMER "$1")
  export SERVER_PORT SECKILL_INTERNAL_TOKEN=$INTERNAL_TOKEN
  redis_environment consumer "$REDIS_CONSUMER_PASSWORD"
  broker_environment consumer "$AMQP_CONSUMER_PASSWORD"
  export SECKILL_DEMO_ENABLED=${SECKILL_DEMO_ENABLED:-true} SECKILL_PAYMENT_PROVIDER=${SECKILL_PAYMENT_PROVIDER:-wallet}
  export SECKILL_PAYMENT_CALLBACKSECRET=$PAYMENT_CALLBACK_SECRET
  ! is_ha || export SECKILL_SHUTDOWN_DELAY=${SECKILL_SHUTDOWN_DELAY:-5s}
  export SECKILL_MIGRATION_ENABLED=false
  database_environment seckill_consumer "$MYSQL_CONSUMER_PASSWORD"
}

# With Sentinel the URL's address is not used.
redis_environment() { # USER PASSWORD
  export SECKILL_REDIS_MODE=single
  SECKILL_REDIS_URL=redis://$1:$2@127.0.0.1:$(port_of REDIS "${REDIS_NODES%% *}")/0
  export SECKILL_REDIS_URL
  is_ha || return 0
  # shellcheck disable=SC2086 # names are words
  SECKILL_REDIS_MODE=sentinel SECKILL_REDIS_MASTER=seckill SECKILL_REDIS_NODES=$(sentinel_urls "$1" "$2")
  export SECKILL_REDIS_NODES SECKILL_REDIS_MASTER
}

sentinel_urls() { # USER PASSWORD
  local node urls=''
  for node in $SENTINELS; do urls+=,redis://$1:$2@127.0.0.1:$(port_of SENTINEL "$node"); done
  printf %s "${urls#,}"
}

broker_environment() { # USER PASSWORD
  local node urls=''
  for node in $RABBITMQ_NODES; do urls+=,amqp://$1:$2@127.0.0.1:$(port_of AMQP "$node")/seckill; done
  export SECKILL_BROKER_URLS=${urls#,}
}

# useAffectedRows distinguishes a refused quota (0) from an insert (1); rewriting would turn every count into -2.
datasource_environment() { # USER PASSWORD
  # shellcheck disable=SC2086 # names are words
  SPRING_DATASOURCE_URL="jdbc:mysql://$(addresses_of MYSQL $MYSQL_NODES)/seckill?useAffectedRows=true&rewriteBatchedStatements=false&tcpKeepAlive=true"
  export SPRING_DATASOURCE_URL SPRING_DATASOURCE_USERNAME=$1 SPRING_DATASOURCE_PASSWORD=$2
}

database_environment() { # USER PASSWORD: also of the migration, or of the look at its result
  datasource_environment "$@"
  export SPRING_FLYWAY_USER=$1 SPRING_FLYWAY_PASSWORD=$2
}

# The addresses are in the environment. One that runs is not restarted: that would end the connections of all shoppers.
start_haproxy() {
  local configuration=$ROOT/deploy/haproxy/haproxy.cfg
  if is_running haproxy; then
    cmp -s "$configuration" "$APP_DIR/haproxy.cfg" ||
      say "HAProxy has the configuration of before, because its restart ends all connections; scripts/kill haproxy && scripts/up --ha restarts it"
    return 0
  fi
  mkdir -p "$APP_DIR"
  cp "$configuration" "$APP_DIR/haproxy.cfg"
  (
    haproxy_environment
    start_process haproxy haproxy -db -f "$APP_DIR/haproxy.cfg"
  )
  wait_ready haproxy HAProxy 20 port_answers "$GATEWAY_PORT"
}

haproxy_environment() {
  local name part
  export BIND=127.0.0.1 GATEWAY_PORT ADMIN_PORT CONSUMER_PORT
  for name in GATEWAY ADMIN CONSUMER; do
    for part in 1 2; do export "${name}_$part=$(addresses_of "$name" "-$part")"; done
  done
}
