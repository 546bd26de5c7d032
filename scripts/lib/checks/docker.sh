# shellcheck shell=bash
# The pipeline in containers. Docker is pretended.

# As after a second scripts/up: like a working directory, a bind mount follows the directory and not its name.
that_running_containers_keep_their_secrets() {
  local CONTAINER_ETC=$LOCAL/kept
  write_container_secrets
  cd "$LOCAL/kept/secrets/mysql"
  touch of-a-former-release
  write_container_secrets
  [[ $(ls .) == root-password ]]
}

# A container is pretended: the server of this machine works in the directory that is mounted.
that_a_running_redis_container_gets_new_users() (
  local CONTAINER_ETC=$LOCAL/containers file
  REDIS_PORT=$(free_port) REDIS_NODES=redis RABBITMQ_NODES=rabbitmq MYSQL_NODES=mysql COMPOSE=(composes)
  file=$(sed -n 's|.*--aclfile, /run/secrets/\(.*\)\]$|\1|p' "$ROOT/deploy/compose.yaml")
  redis_users() { acl_of users.acl "$(redis_version)"; }
  composes() { if [[ $3 == redis ]]; then redis-cli -p "$REDIS_PORT"; else cat; fi; }
  rabbitmq_api() { cat; }
  write_container_secrets
  trap 'stop_processes 10 redis' EXIT
  (cd "$CONTAINER_ETC/secrets/redis" && start_process redis redis-server --port "$REDIS_PORT" --aclfile "$file" --save '')
  wait_ready redis Redis 60 redis_answers redis
  REDIS_GATEWAY_PASSWORD=another
  write_container_secrets
  grant_container_users >/dev/null
  [[ $(REDISCLI_AUTH=another redis-cli -p "$REDIS_PORT" --user gateway ping) == PONG && $(redis-cli -p "$REDIS_PORT" ping) == NOAUTH* ]]
)

# The servers' data keep the passwords of before, and what runs the rights of before; so does Prometheus its alerts.
# Docker is pretended.
that_servers_in_containers_get_their_users_before_the_services_start() (
  ONLY_SERVERS=no REDIS_NODES=redis RABBITMQ_NODES=rabbitmq MYSQL_NODES=mysql COMPOSE=(composes)
  CONTAINER_ETC=$LOCAL/containers IMAGES='' JARS=none
  begin_volumes() { mkdir -p "$LOG_DIR"; }
  is_healthy() { echo "$1 is waited for" >>"$LOCAL/did"; }
  service_answers() { true; }
  container_runs() { [[ $1 == prometheus ]]; }
  composes() {
    if [[ $1 == exec ]]; then echo "$3 $(grep -oE 'IDENTIFIED BY .[a-z]*|ACL LOAD' | paste -sd ' ')"; else echo "$*"; fi >>"$LOCAL/did"
    printf 'OK\nOK\n'
  }
  rabbitmq_api() { echo "$1 $(grep -o /api/definitions <<<"$2") $(grep -o '"name": "gateway"')" >>"$LOCAL/did"; }
  MYSQL_OWNER_PASSWORD=owner MYSQL_CONSUMER_PASSWORD=consumer MYSQL_GATEWAY_PASSWORD=gateway
  choose_ports
  choose_properties
  start_containers >/dev/null
  cat "$LOCAL/did"
  sed -n '/^mysql is waited for$/,$p' "$LOCAL/did" |
    diff - <(printf '%s\n' 'mysql is waited for' "mysql IDENTIFIED BY 'owner IDENTIFIED BY 'consumer IDENTIFIED BY 'gateway" \
      'redis ACL LOAD' 'rabbitmq /api/definitions "name": "gateway"' 'up -d --build' '--profile observability kill -s HUP prometheus')
)

# The address that docker has for its engine, and DOCKER_HOST where this docker has no such command.
that_an_engine_of_another_machine_is_refused() (
  has() { true; }
  docker() { if [[ $1 == context ]]; then [[ $ENGINE ]] && echo "$ENGINE"; fi; }
  for ENGINE in ssh://root@shop tcp://10.0.0.1:2375 tcp://docker:2376 tcp://127.example.com:2375 tcp://localhost.example.com; do
    refuses_with 'on another machine' require_docker
    (export DOCKER_HOST=$ENGINE && ENGINE='' && refuses_with 'on another machine' require_docker)
  done
  for ENGINE in unix:///var/run/docker.sock npipe:////./pipe/docker_engine tcp://127.0.0.1:2375 tcp://localhost:2375 'tcp://[::1]:2375' ''; do
    require_docker
  done
)

that_an_engine_that_hangs_is_no_engine() (
  local start=$SECONDS
  mkdir "$LOCAL/bin"
  printf '#!/bin/sh\nexec sleep 60\n' >"$LOCAL/bin/docker"
  printf '#!/bin/sh\nwhile [ "$1" != docker ]; do shift; done\nexec %s 0.2 "$@"\n' "$(type -P timeout)" >"$LOCAL/bin/timeout"
  chmod 755 "$LOCAL/bin/"*
  unset -f docker timeout
  PATH=$LOCAL/bin:$PATH
  refuses_with 'does not answer' require_docker
  refuses_with 'does not list the containers' containers_run
  refuses_with 'does not list the volumes' project_volumes
  none has_image redis:8
  none is_healthy redis
  refuses_with 'does not say its version within 120 s' refuse_bad_rabbitmq rabbitmq:4
  ((SECONDS - start < 30))
)

that_volumes_without_their_passwords_are_refused() (
  VOLUMES=seckill_mysql
  refuses_with 'passwords' refuse_lost_passwords && touch "$LOCAL/secrets" && refuse_lost_passwords
  rm "$LOCAL/secrets"
  VOLUMES=
  refuse_lost_passwords
)

that_volumes_of_an_interrupted_first_start_are_created_again() (
  COMPOSE=(docker compose) VOLUMES=
  begin_volumes && [[ -e $LOCAL/new-volumes && ! -e $LOCAL/asked ]] # as interrupted here
  VOLUMES=seckill_mysql
  begin_volumes && grep -qx 'compose down --volumes' "$LOCAL/asked" && [[ -e $LOCAL/new-volumes ]]
  rm "$LOCAL/new-volumes" "$LOCAL/asked" # as after a start that succeeded
  begin_volumes && [[ ! -e $LOCAL/new-volumes && ! -e $LOCAL/asked ]]
)

# As when the engine ends meanwhile. The next start would remove the volumes of what counts as a first one.
that_volumes_that_are_not_listed_do_not_count_as_none() (
  docker() { return 1; }
  refuses_with 'does not list' refuse_lost_passwords && refuses_with 'does not list' begin_volumes && [[ ! -e $LOCAL/new-volumes ]]
)

# Another form would sell on the same ports, with other data.
that_containers_that_are_not_listed_do_not_count_as_none() (
  local tree=$LOCAL/unlisted
  eval "$(sed -nE '/^(refuse_other_mode|anything_runs|services_run|processes_run)\(\) \{/,/^}/p' "$ROOT/scripts/up")"
  docker() { return 1; }
  echo 'docker single' >"$LOCAL/mode"
  PROPERTIES='' MODE=processes
  refuses_with 'does not list the containers' refuse_other_mode
  MODE=docker
  refuse_other_mode
  PROPERTIES=seckill.fallback=manual
  refuses_with 'does not list the containers' refuse_other_mode
  echo 'processes single' >"$LOCAL/mode"
  MODE=processes
  refuse_other_mode
  echo 'docker single' >"$LOCAL/mode"
  PROPERTIES=''
  (has() { [[ $1 != docker ]]; } && refuse_other_mode)
  mkdir -p "$tree" "$LOCAL/bin"
  cp -r "$ROOT/scripts" "$tree/"
  printf '#!/bin/sh\nexit 1\n' >"$LOCAL/bin/docker"
  chmod 755 "$LOCAL/bin/docker"
  (PATH=$LOCAL/bin:$PATH && "$tree/scripts/down" 2>"$LOCAL/said")
  grep -q 'does not list the containers' "$LOCAL/said"
)

# It has ended before it had the images, and so before compose.yaml had its settings.
that_a_first_start_without_images_can_be_stopped() {
  local tree=$LOCAL/unpulled
  mkdir -p "$tree/.local" "$LOCAL/bin"
  cp -r "$ROOT/scripts" "$tree/"
  echo 'docker single' >"$tree/.local/mode"
  PATH=$LOCAL/bin:$PATH
  printf '#!/bin/sh\ncase "$*" in *--env-file*) exit 1 ;; esac\n' >"$LOCAL/bin/docker"
  chmod 755 "$LOCAL/bin/docker"
  "$tree/scripts/down" && "$tree/scripts/down" --wipe --yes && [[ ! -e $tree/.local ]]
}

that_a_link_to_a_clone_is_the_same_project() {
  local command commands
  ln -s "$ROOT" "$LOCAL/link"
  [[ $(bash -c '. "$0/scripts/lib/common.sh" && . "$0/scripts/lib/docker.sh" && echo "$COMPOSE_PROJECT"' "$LOCAL/link") == "$COMPOSE_PROJECT" ]]
  mapfile -t commands < <(grep -ohE 'seckill-\$\(.*sha256sum[^)]*\)' "$ROOT"/docs/*.md)
  ((${#commands[@]} > 0))
  cd "$LOCAL/link"
  for command in "${commands[@]}"; do [[ $(eval "echo \"$command\"") == "$COMPOSE_PROJECT" ]]; done
}

that_down_stops_every_container() (
  local profile
  require_docker() { COMPOSE=(docker compose); }
  CONTAINER_ETC=$LOCAL
  touch "$LOCAL/compose.env"
  stop_containers --volumes
  profile=$(sed -nE 's/^ *profiles: \[(.*)\]$/\1/p' "$ROOT/deploy/compose.yaml" | sort -u)
  grep -qx "compose --profile $profile down --volumes" "$LOCAL/asked"
)

# Only the catalogue needs it, after minutes.
that_a_system_without_gnu_date_is_refused_at_once() (
  has() { true; }
  docker() { true; }
  require_docker
  date() { [[ $* != *-d* ]]; }
  refuses_with 'install coreutils' require_docker
)

that_containers_are_waited_for_before_their_volumes_count_as_made() (
  ONLY_SERVERS=yes REDIS_NODES=redis RABBITMQ_NODES=rabbitmq MYSQL_NODES=mysql COMPOSE=(compose) COMPOSE_PROJECT=project
  compose() { if [[ $1 == exec ]]; then cat >/dev/null && printf 'OK\nOK\n'; fi; }
  rabbitmq_api() { cat >/dev/null; }
  write_container_files() { true; }
  begin_volumes() { touch "$LOCAL/new-volumes"; }
  sleep() { touch "$LOCAL/waited"; }
  docker() { [[ $* != *service=mysql* || -e $LOCAL/waited ]] && echo container; [[ -e $LOCAL/new-volumes ]]; }
  start_containers >/dev/null
  [[ -e $LOCAL/waited && ! -e $LOCAL/new-volumes ]]
)

that_an_image_of_the_major_version_stands_in() (
  docker() { # this machine has these, and no registry
    [[ $1 != run ]] || { echo 4.3.6 && return; }
    [[ "$1 $2" == 'image inspect' && " redis:8 rabbitmq:4-management mysql:9.7 eclipse-temurin:25-jre " == *" $3 "* ]]
  }
  can_build() { true; }
  choose_images && [[ $JARS == given && $IMAGES == *REDIS_IMAGE=redis:8$'\n'*RABBITMQ_IMAGE=rabbitmq:4-management$'\n'*MYSQL_IMAGE=mysql:9.7$'\n'* ]] &&
    [[ $IMAGES == *BUILD_IMAGE=eclipse-temurin:25-jre$'\n'* ]]
  can_build() { false; }
  refuses_with 'image maven:' choose_images
)

that_no_rabbitmq_stands_in_whose_queues_may_stop() (
  docker() { echo "$VERSION"; }
  for VERSION in 4.3.0 4.3.5 4.3.5-1 3.13.7 'Error: unknown' ''; do
    refuses_with 'is not 4.3.0 to 4.3.5' refuse_bad_rabbitmq rabbitmq:4-management || exit
  done
  for VERSION in 4.2.9 4.3.6 4.3.10 4.4.0 $'starting\n4.3.6'; do refuse_bad_rabbitmq rabbitmq:4-management || exit; done
  docker() { return 125; }
  refuses_with 'does not say its version; docker run' refuse_bad_rabbitmq rabbitmq:4-management
)
