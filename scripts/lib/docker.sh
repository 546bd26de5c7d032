# shellcheck shell=bash
# The same pipeline in containers: deploy/compose.yaml, with settings and secrets from .local.

CONTAINER_ETC=$ETC_DIR/containers
# Two clones on one machine are two projects.
COMPOSE_PROJECT=seckill-$(printf %s "$ROOT" | sha256sum | cut -c 1-8)

# An engine that hangs is no engine; one of a busy machine answers within this time.
ask_docker() { # COMMAND…
  timeout 20 docker "$@"
}

# Its ports are on the loopback of that machine, and the files that its containers read on this one.
engine_is_elsewhere() {
  local engine
  engine=$(ask_docker context inspect --format '{{.Endpoints.docker.Host}}' 2>/dev/null) || engine=${DOCKER_HOST:-}
  [[ $engine =~ ^(ssh|tcp):// && ! $engine =~ ^tcp://(localhost|127\.[0-9.]+|\[::1\])(:|$) ]]
}

require_docker() {
  local tool
  has docker || fail "docker is not installed, and it is needed on every system but Debian 12, and there without root; install Docker with compose"
  ! engine_is_elsewhere || fail "the Docker engine is on another machine, whose ports cannot be reached here; unset DOCKER_HOST, or take an engine of this machine with docker context use"
  ask_docker info >/dev/null 2>&1 || fail "the Docker engine does not answer; start it, or let this user reach it (docker info says why)"
  choose_compose || fail "docker compose is not installed; install Docker's compose plugin or docker-compose"
  for tool in curl openssl; do
    has "$tool" || fail "$tool is not installed; install it first"
  done
  # BusyBox's, of Alpine, adds nothing to a time.
  date -u -d '+1 day' >/dev/null 2>&1 || fail "GNU date is needed; install coreutils"
}

# Sets JARS and IMAGES, for compose. The images are pinned; without a registry one of the same major version that this machine
# has does as well. With a JDK here the jars are built outside, which is faster the next time.
choose_images() {
  local variable pinned stand_in java
  IMAGES='' JARS=none
  ! can_build || JARS=given
  while IFS='=' read -r variable pinned; do
    [[ $variable != BUILD_IMAGE ]] || [[ $JARS == none ]] || { IMAGES+="BUILD_IMAGE=$java"$'\n' && continue; }
    if ! has_image "$pinned"; then
      stand_in=$(sed -E 's/:([0-9]+)[0-9._]*/:\1/' <<<"$pinned")
      has_image "$stand_in" || fail "the image $pinned is not on this machine and cannot be pulled; docker pull $pinned says why"
      [[ $variable != RABBITMQ_IMAGE ]] || refuse_bad_rabbitmq "$stand_in"
      say "$pinned cannot be pulled; using $stand_in of this machine"
      pinned=$stand_in
    fi
    [[ $variable != JAVA_IMAGE ]] || java=$pinned
    IMAGES+=$variable=$pinned$'\n'
  done < <(sed -nE '/profiles:/q; s/.*\$\{([A-Z]+_IMAGE):-([^}]*)\}.*/\1=\2/p' "$ROOT/deploy/compose.yaml")
}

has_image() { # IMAGE: now, if need be from its registry
  ask_docker image inspect "$1" >/dev/null 2>&1 || timeout --foreground 900 docker pull -q "$1" >/dev/null 2>&1 </dev/null
}

# The tag of a major version does not say which one it is. Quorum queues of 4.3.0 to 4.3.5 may stop for good after
# consumer_timeout (rabbitmq-server #17317).
refuse_bad_rabbitmq() { # IMAGE
  local version code=0
  version=$(timeout --foreground 120 docker run --rm --network none "$1" rabbitmqctl version 2>/dev/null </dev/null) || code=$?
  ((code == 0)) ||
    fail "$1 of this machine does not say its version$( ((code != 124)) || echo ' within 120 s'); docker run --rm $1 rabbitmqctl version says why"
  version=${version##*$'\n'}
  [[ $version =~ ^4\.[0-9]+\.[0-9]+ && ! $version =~ ^4\.3\.[0-5]($|[^0-9]) ]] ||
    fail "$1 of this machine is RabbitMQ '$version', and needed is a version 4 that is not 4.3.0 to 4.3.5"
}

choose_compose() { # sets COMPOSE: version 2 is a plugin of docker, version 1 a program
  if docker compose version >/dev/null 2>&1; then
    COMPOSE=(docker compose)
  elif has docker-compose; then
    COMPOSE=(docker-compose)
  else
    return 1
  fi
  COMPOSE+=(--env-file "$CONTAINER_ETC/compose.env" -p "$COMPOSE_PROJECT" -f "$ROOT/deploy/compose.yaml")
}

containers_run() { # [FILTER…]: those of this clone
  local containers
  has docker || return 1
  containers=$(ask_docker ps -q --filter "label=com.docker.compose.project=$COMPOSE_PROJECT" "$@" 2>/dev/null) ||
    fail "Docker does not list the containers of this clone; docker ps says why"
  [[ $containers ]]
}

container_runs() { # SERVICE
  containers_run --filter "label=com.docker.compose.service=$1"
}

project_volumes() {
  ask_docker volume ls -q --filter "label=com.docker.compose.project=$COMPOSE_PROJECT" || fail "Docker does not list the volumes of this clone"
}

# The volumes hold data under passwords that only .local has.
refuse_lost_passwords() {
  local volumes
  [[ ! -e $LOCAL/secrets ]] || return 0
  volumes=$(project_volumes) || exit
  [[ -z $volumes ]] ||
    fail "volumes of this clone exist, but their passwords, in $LOCAL/secrets, are gone; restore that file, or remove the data with scripts/down --wipe"
}

# Every container publishes its ports or none runs; the port mapper stays inside.
is_contained() { # OWNER of a port
  [[ $1 == epmd ]] || containers_run
}

start_containers() {
  local server servers
  read -r -a servers <<<"$REDIS_NODES $RABBITMQ_NODES $MYSQL_NODES"
  write_container_files
  begin_volumes
  say "starting the servers' containers (log: $LOG_DIR/docker.log)"
  compose_up "${servers[@]}"
  for server in "${servers[@]}"; do await_container "$server" is_healthy "$server"; done
  grant_container_users
  rm -f "$LOCAL/new-volumes"
  [[ $ONLY_SERVERS == no ]] || return 0
  say "building and starting the services' containers"
  (start_service_containers) || end_failed_start stop_service_containers < <(service_logs)
  ! (container_runs prometheus) || reload_prometheus
}

start_service_containers() {
  compose_up --build
  await_container order-consumer service_answers "$CONSUMER_PORT"
  await_container relay-service service_answers "$RELAY_PORT"
  await_container gateway-service service_answers "$ADMIN_PORT"
}

# Of each service from its last failure on: what the others say is no reason.
service_logs() {
  local service failed='APPLICATION FAILED TO START\|Application run failed'
  for service in migration order-consumer relay-service gateway-service; do
    "${COMPOSE[@]}" logs --no-color "$service" 2>/dev/null </dev/null | tac | sed "/$failed/q" | tac | sed -n "/$failed/,\$p" ||
      true # the first tac cannot write what sed does not read
  done
}

stop_service_containers() {
  "${COMPOSE[@]}" stop gateway-service relay-service order-consumer >>"$LOG_DIR/docker.log" 2>&1 </dev/null 9>&- ||
    fail "the services' containers did not stop; see $LOG_DIR/docker.log"
}

# It reads its configuration and the alerts at its start and at this signal. Without it the pipeline sells all the same.
reload_prometheus() {
  "${COMPOSE[@]}" --profile observability kill -s HUP prometheus >>"$LOG_DIR/docker.log" 2>&1 </dev/null 9>&- ||
    say "Prometheus did not get the signal to read its configuration again; see $LOG_DIR/docker.log"
}

compose_up() { # ARGUMENT…
  "${COMPOSE[@]}" up -d "$@" >"$LOG_DIR/docker.log" 2>&1 </dev/null 9>&- ||
    fail "the containers did not start; see $LOG_DIR/docker.log, then: $(compose_logs)"
}

# At every start, because the data keep the passwords of before, and what runs the rights of before. Redis 8 reads them again
# without closing the connections of users who keep theirs.
grant_container_users() {
  # shellcheck disable=SC2016 # expanded in the container
  mysql_users | "${COMPOSE[@]}" exec -T "$MYSQL_NODES" sh -c 'MYSQL_PWD=$(cat /run/secrets/root-password) exec mysql -u root' \
    >>"$LOG_DIR/docker.log" 2>&1 || fail "the MySQL users could not be created; see $LOG_DIR/docker.log"
  [[ $(printf 'AUTH admin %s\nACL LOAD\n' "$REDIS_ADMIN_PASSWORD" | "${COMPOSE[@]}" exec -T "$REDIS_NODES" redis-cli) == OK*OK ]] ||
    fail "Redis does not accept its users; see: $(compose_logs "$REDIS_NODES")"
  load_rabbitmq_users "$RABBITMQ_NODES"
}

# MySQL's image does not repeat a set-up that was interrupted. Until the first start has succeeded the volumes hold nothing
# of value: the next start creates them again.
begin_volumes() {
  local volumes
  mkdir -p "$LOG_DIR"
  if [[ -e $LOCAL/new-volumes ]]; then
    say "the first start did not succeed; removing its volumes"
    "${COMPOSE[@]}" down --volumes >"$LOG_DIR/docker.log" 2>&1 </dev/null 9>&- ||
      fail "the volumes of the first start cannot be removed; see $LOG_DIR/docker.log"
  else
    volumes=$(project_volumes) || exit
    [[ $volumes ]] || write_file "$LOCAL/new-volumes" </dev/null
  fi
}

compose_logs() { # [SERVICE]: prints the command that shows its log
  printf '%q ' "${COMPOSE[@]}" logs "$@"
}

await_container() { # SERVICE CHECK…
  local service=$1 deadline=$((SECONDS + 180))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || fail "$service did not become ready in time; see: $(compose_logs "$service")"
    sleep 0.5
  done
  say "$service is ready"
}

is_healthy() { # SERVICE
  [[ -n $(ask_docker ps -q --filter "label=com.docker.compose.project=$COMPOSE_PROJECT" \
    --filter "label=com.docker.compose.service=$1" --filter health=healthy 2>/dev/null) ]]
}

# The servers in the containers run as users of their images and must read these files. Those of deploy/ are copied, because
# a umask of 077 makes them unreadable in the clone. The directory above is closed to other users of the machine.
write_container_files() {
  mkdir -p "$CONTAINER_ETC"
  cp -R "$ROOT"/deploy/{redis,rabbitmq,mysql,observability} "$CONTAINER_ETC/"
  chmod -R u=rwX,go=rX "$CONTAINER_ETC"/{redis,rabbitmq,mysql,observability}
  rabbitmq_definitions | write_file "$CONTAINER_ETC/definitions.json" 644
  write_container_secrets
  property_lines | write_file "$CONTAINER_ETC/properties.env"
  install -d -m 755 "$CONTAINER_ETC/no-provider"
  {
    port_lines | sed 's/=/_PORT=/'
    property_lines
    [[ $(provider_directory) ]] || printf 'LOADER_PATH=%s\n' "$CONTAINER_ETC/no-provider"
    printf 'CONTAINER_ETC=%s\nJAVA_FLAGS=%s\nJARS=%s\n%s' "$CONTAINER_ETC" "$JAVA_FLAGS" "$JARS" "$IMAGES"
  } | write_file "$CONTAINER_ETC/compose.env"
}

# Each container sees its own, as files named like the properties or like the placeholders of compose.yaml. The directories
# stay: a running container would go on with the removed one, and fail its health check.
write_container_secrets() {
  mkdir -p "$CONTAINER_ETC/secrets"
  find "$CONTAINER_ETC/secrets" -type f -delete
  container_secret redis health-password "$REDIS_GATEWAY_PASSWORD"
  container_secret redis users.acl "$(redis_users 8)"
  container_secret mysql root-password "$MYSQL_ROOT_PASSWORD"
  container_secret migration spring.flyway.password "$MYSQL_OWNER_PASSWORD"
  container_secret order-consumer redis-password "$REDIS_CONSUMER_PASSWORD"
  container_secret order-consumer broker-password "$AMQP_CONSUMER_PASSWORD"
  container_secret order-consumer spring.datasource.password "$MYSQL_CONSUMER_PASSWORD"
  container_secret order-consumer seckill.internal.token "$INTERNAL_TOKEN"
  container_secret order-consumer seckill.payment.callback-secret "$PAYMENT_CALLBACK_SECRET"
  container_secret relay-service redis-password "$REDIS_RELAY_PASSWORD"
  container_secret relay-service broker-password "$AMQP_RELAY_PASSWORD"
  container_secret gateway-service redis-password "$REDIS_GATEWAY_PASSWORD"
  container_secret gateway-service broker-password "$AMQP_GATEWAY_PASSWORD"
  container_secret gateway-service spring.datasource.password "$MYSQL_GATEWAY_PASSWORD"
  container_secret gateway-service seckill.internal.token "$INTERNAL_TOKEN"
  container_secret gateway-service seckill.security.hs256-secret "$HS256_SECRET"
}

# Readable for the user in the container; .local is closed to the other users of the machine.
container_secret() { # CONTAINER FILE SECRET
  mkdir -p "$CONTAINER_ETC/secrets/$1"
  chmod 755 "$CONTAINER_ETC/secrets" "$CONTAINER_ETC/secrets/$1"
  printf %s "$3" | write_file "$CONTAINER_ETC/secrets/$1/$2" 644
}

stop_containers() { # ARGUMENT…: of compose down
  [[ -e $CONTAINER_ETC/compose.env ]] || return 0 # written before the first container
  require_docker
  mkdir -p "$LOG_DIR"
  say "stopping the containers"
  "${COMPOSE[@]}" --profile observability down "$@" >"$LOG_DIR/docker.log" 2>&1 </dev/null ||
    fail "the containers did not stop; see $LOG_DIR/docker.log"
}

# Needs nothing from .local.
remove_containers() {
  local label=label=com.docker.compose.project=$COMPOSE_PROJECT
  docker ps -aq --filter "$label" | xargs -r docker rm -f -v >/dev/null
  project_volumes | xargs -r docker volume rm >/dev/null
  docker network ls -q --filter "$label" | xargs -r docker network rm >/dev/null
}
