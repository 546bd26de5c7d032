# shellcheck shell=bash
# The three services as Java processes. Each runs from a copy of its jar: a build in the work tree
# does not change the classes of a running service.

APP_DIR=$LOCAL/app
JAVA_FLAGS=${SECKILL_JAVA_FLAGS:--Xmx512m -XX:+ExitOnOutOfMemoryError}

# The consumer first, because it migrates the tables the gateway reads.
start_services() {
  start_service order-consumer
  await_service order-consumer "$CONSUMER_PORT"
  start_service relay-service
  start_service gateway-service
  await_service relay-service "$RELAY_PORT"
  await_service gateway-service "$ADMIN_PORT"
}

start_service() { # MODULE: unless it runs already from this jar
  local jar
  jar=$(jar_of "$1")
  if is_running "$1"; then
    ! cmp -s "$jar" "$APP_DIR/$1.jar" || return 0
    say "$1 has been rebuilt, restarting it"
    stop_processes 40 "$1"
  fi
  say "starting $1"
  mkdir -p "$APP_DIR"
  cp "$jar" "$APP_DIR/$1.jar"
  (
    common_environment
    "environment_of_${1//-/_}"
    # shellcheck disable=SC2086 # flags are words
    start_process "$1" "$JAVA" $JAVA_FLAGS -jar "$APP_DIR/$1.jar"
  )
}

await_service() { # MODULE HEALTH-PORT
  wait_ready "$1" "$1" 180 service_answers "$2"
}

service_answers() { # HEALTH-PORT
  curl -sf -o /dev/null -m 5 "http://127.0.0.1:$1/actuator/health/readiness"
}

common_environment() {
  export SERVER_ADDRESS=127.0.0.1 SECKILL_REDIS_MODE=single
}

environment_of_gateway_service() {
  export SERVER_PORT=$GATEWAY_PORT SECKILL_ADMIN_PORT=$ADMIN_PORT SECKILL_ADMIN_ADDRESS=127.0.0.1
  export SECKILL_REDIS_URL=redis://gateway:$REDIS_GATEWAY_PASSWORD@127.0.0.1:$REDIS_PORT/0
  export SECKILL_BROKER_URLS=amqp://gateway:$AMQP_GATEWAY_PASSWORD@127.0.0.1:$AMQP_PORT/seckill
  export SECKILL_CONSUMER_URL=http://127.0.0.1:$CONSUMER_PORT SECKILL_INTERNAL_TOKEN=$INTERNAL_TOKEN
  export SECKILL_SECURITY_HS256_SECRET=$HS256_SECRET SECKILL_DEMO_ENABLED=true
  export SECKILL_OPS_BROKERUIURL=http://127.0.0.1:$MANAGEMENT_PORT
  export SECKILL_WARMUP_REQUESTS=20000
  datasource_environment seckill_gateway "$MYSQL_GATEWAY_PASSWORD"
}

environment_of_relay_service() {
  export SERVER_PORT=$RELAY_PORT
  export SECKILL_REDIS_URL=redis://relay:$REDIS_RELAY_PASSWORD@127.0.0.1:$REDIS_PORT/0
  export SECKILL_BROKER_URLS=amqp://relay:$AMQP_RELAY_PASSWORD@127.0.0.1:$AMQP_PORT/seckill
}

environment_of_order_consumer() {
  export SERVER_PORT=$CONSUMER_PORT SECKILL_INTERNAL_TOKEN=$INTERNAL_TOKEN
  export SECKILL_REDIS_URL=redis://consumer:$REDIS_CONSUMER_PASSWORD@127.0.0.1:$REDIS_PORT/0
  export SECKILL_BROKER_URLS=amqp://consumer:$AMQP_CONSUMER_PASSWORD@127.0.0.1:$AMQP_PORT/seckill
  export SECKILL_DEMO_ENABLED=true SECKILL_PAYMENT_CALLBACKSECRET=$PAYMENT_CALLBACK_SECRET
  datasource_environment seckill_consumer "$MYSQL_CONSUMER_PASSWORD"
  export SPRING_FLYWAY_URL=$SPRING_DATASOURCE_URL SPRING_FLYWAY_USER=seckill_owner SPRING_FLYWAY_PASSWORD=$MYSQL_OWNER_PASSWORD
}

# useAffectedRows distinguishes a refused quota (0) from an insert (1); rewriting would turn every count into -2.
datasource_environment() { # USER PASSWORD
  export SPRING_DATASOURCE_URL="jdbc:mysql://127.0.0.1:$MYSQL_PORT/seckill?useAffectedRows=true&rewriteBatchedStatements=false&connectTimeout=2000&socketTimeout=10000&tcpKeepAlive=true"
  export SPRING_DATASOURCE_USERNAME=$1 SPRING_DATASOURCE_PASSWORD=$2
}
