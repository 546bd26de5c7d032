# shellcheck shell=bash
# How processes and services start, and how scripts/kill and scripts/down end them.

that_a_started_process_is_found_and_stopped() {
  start_process sleeper sleep 60
  is_running sleeper && stop_processes 10 sleeper >"$LOCAL/said" && ! is_running sleeper &&
    [[ ! -e $RUN_DIR/sleeper.pid ]] && grep -q 'sleeper stopped' "$LOCAL/said"
}

that_a_process_runs_until_its_last_thread_ends() {
  local exit=60 # of one thread
  [[ $(uname -m) != aarch64 ]] || exit=93
  start_process threads perl -Mthreads -e "threads->create(sub { sleep 60 }); syscall($exit, 0)"
  wait_ready threads 'The process' 30 main_thread_has_ended
  is_running threads
  stop_processes 10 threads
  ! is_running threads
}

main_thread_has_ended() {
  [[ $(<"/proc/$(head -n 1 "$RUN_DIR/threads.pid")/stat") == *') Z '* ]]
}

that_a_stale_pid_file_is_nobody() { # the pid exists, but belongs to another process
  printf '%s\n1 %s\n' $$ "$(</proc/sys/kernel/random/boot_id)" >"$RUN_DIR/stale.pid"
  ! is_running stale && stop_processes 1 stale && [[ ! -e $RUN_DIR/stale.pid ]]
}

that_a_server_that_dies_while_starting_ends_the_wait() {
  start_process dying true
  refuses_with "see $LOG_DIR/dying.log" wait_ready dying 'The server' 30 false
}

that_a_file_is_written_whole_or_not_at_all() {
  echo before >"$LOCAL/written"
  ! write_file "$LOCAL/written" <"$LOCAL" && [[ $(<"$LOCAL/written") == before ]]
}

that_a_wipe_is_confirmed() {
  mkdir -p "$LOCAL/tree/.local/data"
  cp -r "$ROOT/scripts" "$LOCAL/tree/"
  refuses_with 'nothing was' "$LOCAL/tree/scripts/down" --wipe </dev/null && [[ -e $LOCAL/tree/.local/data ]] &&
    refuses_with usage "$LOCAL/tree/scripts/down" --yes &&
    echo yes | "$LOCAL/tree/scripts/down" --wipe && [[ ! -e $LOCAL/tree/.local ]] &&
    mkdir -p "$LOCAL/tree/.local/data" && "$LOCAL/tree/scripts/down" --wipe --yes && [[ ! -e $LOCAL/tree/.local ]]
}

that_a_wipe_without_the_docker_engine_says_what_it_leaves() {
  local tree=$LOCAL/unanswered
  mkdir -p "$tree/.local" "$LOCAL/bin"
  cp -r "$ROOT/scripts" "$tree/"
  touch "$tree/.local/secrets"
  printf '#!/bin/sh\nexit 1\n' >"$LOCAL/bin/docker"
  chmod 755 "$LOCAL/bin/docker"
  PATH=$LOCAL/bin:$PATH "$tree/scripts/down" --wipe --yes >"$LOCAL/said"
  [[ ! -e $tree/.local ]] && grep -q 'volumes of this clone stay' "$LOCAL/said"
}

# Neither pid files nor settings are left: only the mark of the processes, and the label of the containers.
that_down_finds_what_runs_without_its_local() {
  local tree=$LOCAL/lost
  mkdir -p "$tree" "$LOCAL/bin"
  cp -r "$ROOT/scripts" "$tree/"
  start_marked "$tree"
  rm -r "$tree/.local"
  PATH=$LOCAL/bin:$PATH
  machine_has_containers
  refuses_with '--wipe ends them' "$tree/scripts/down" && [[ -n $(marked "PIPELINE_OF=$tree/.local") ]] &&
    "$tree/scripts/down" --wipe --yes && [[ -z $(marked "PIPELINE_OF=$tree/.local") ]] && machine_has_containers 4711 &&
    refuses_with '--wipe ends them' "$tree/scripts/down" && "$tree/scripts/down" --wipe --yes &&
    grep -qx 'rm -f -v 4711' "$LOCAL/asked"
}

that_down_ends_a_part_without_a_pid_file() {
  local tree=$LOCAL/interrupted
  mkdir -p "$tree"
  cp -r "$ROOT/scripts" "$tree/"
  start_marked "$tree"
  rm "$tree/.local/run/sleeper.pid"
  "$tree/scripts/down" && [[ -z $(marked "PIPELINE_OF=$tree/.local") ]]
}

# Without MySQL it would wait, and change the tables after the next scripts/up.
that_down_ends_a_migration_before_its_server() (
  local tree=$LOCAL/migrating
  mkdir -p "$tree"
  cp -r "$ROOT/scripts" "$tree/"
  choose_ports
  JAVA=$LOCAL/java
  printf '#!/bin/sh\nexec sleep 60\n' >"$JAVA"
  chmod 755 "$JAVA"
  (LOCAL=$tree/.local RUN_DIR=$tree/.local/run LOG_DIR=$tree/.local/log && start_process mysql sleep 60 && { migrate & })
  for _ in {1..600}; do
    [[ -z $(marked "MIGRATION_OF=$tree/.local") ]] || break
    sleep 0.1
  done
  "$tree/scripts/down" >"$LOCAL/said" 2>&1
  [[ $(grep -oE 'left running|mysql stopped' "$LOCAL/said" | paste -sd ' ') == 'left running mysql stopped' ]]
  [[ -z $(marked "PIPELINE_OF=$tree/.local") ]]
)

# Until then the shell that becomes the process has the environment of this one.
start_marked() { # TREE: starts a process of its pipeline; returns when it shows the mark
  (LOCAL=$1/.local RUN_DIR=$1/.local/run LOG_DIR=$1/.local/log && start_process sleeper sleep 60)
  for _ in {1..600}; do
    [[ -z $(marked "PIPELINE_OF=$1/.local") ]] || return 0
    sleep 0.1
  done
  return 1
}

# A gateway that boots serves nobody; what a newer one writes is read by processes that are newer already.
that_services_of_another_jar_are_replaced_one_after_the_other() (
  use_ha
  APP_DIR=$LOCAL/app JAVA=java
  mkdir -p "$APP_DIR" "$LOCAL/runs" "$LOCAL/boots"
  echo new >"$LOCAL/jar"
  services_are_pretended
  start_services
  [[ $(did) == 'start consumer-1 start consumer-2 ready consumer-1 ready consumer-2 start relay-1 start relay-2 start gateway-1 start gateway-2 ready relay-1 '* ]]
  echo newer >"$LOCAL/jar"
  rm "$LOCAL/runs/gateway-2" "$LOCAL/did"
  start_services
  for service in consumer-1 consumer-2 relay-1 relay-2; do echo "stop $service start $service ready $service"; done >"$LOCAL/wanted"
  echo 'start gateway-2 ready gateway-2 stop gateway-1 start gateway-1 ready gateway-1' >>"$LOCAL/wanted"
  [[ $(did) == "$(paste -sd ' ' "$LOCAL/wanted")" ]]
)

services_are_pretended() { # what was done with them is in a file
  start_haproxy() { :; }
  migrate() { :; }
  common_environment() { :; }
  jar_of() { echo "$LOCAL/jar"; }
  is_running() { [[ -e $LOCAL/runs/$1 ]]; }
  start_process() { touch "$LOCAL/runs/$1" "$LOCAL/boots/$1" && echo "start $1" >>"$LOCAL/did"; }
  stop_processes() { rm "$LOCAL/runs/$2" && echo "stop $2" >>"$LOCAL/did"; }
  await_service() { [[ ! -e $LOCAL/boots/$1 ]] || { rm "$LOCAL/boots/$1" && echo "ready $1" >>"$LOCAL/did"; }; }
}

did() {
  paste -sd ' ' "$LOCAL/did"
}

that_kill_ends_the_named_part_and_no_other() {
  local code=0
  trap 'stop_processes 10 sleeper-1 sleeper-2' EXIT
  start_process sleeper-1 sleep 60
  start_process sleeper-2 sleep 60
  kill_part sleeper >"$LOCAL/said" 2>&1 || code=$?
  ((code == 2)) && grep -q 'names: .*sleeper-1 sleeper-2' "$LOCAL/said" && kill_part sleeper-1 &&
    wait_ended sleeper-1 && is_running sleeper-2 && refuses_with 'not running' kill_part sleeper-1 &&
    echo 'docker single' >"$LOCAL/tree/.local/mode" && refuses_with 'docker kill' kill_part redis
}

kill_part() { # ARGUMENT…: scripts/kill in a tree whose .local is the one of this check
  mkdir -p "$LOCAL/tree/scripts" "$LOCAL/tree/.local"
  cp -r "$ROOT/scripts/kill" "$ROOT/scripts/lib" "$LOCAL/tree/scripts/"
  ln -sfn "$RUN_DIR" "$LOCAL/tree/.local/run"
  "$LOCAL/tree/scripts/kill" "$@"
}

# Only the migration, which ends before they start.
that_no_service_has_the_password_of_the_owner() (
  MYSQL_OWNER_PASSWORD=0wner
  use_ha
  choose_ports
  for service in $GATEWAYS $RELAYS $CONSUMERS; do
    (common_environment "$service" && ! env | grep 0wner) || exit
  done
  JAVA=$LOCAL/java
  printf '#!/bin/sh\necho "$SPRING_FLYWAY_USER $SPRING_FLYWAY_PASSWORD $*"\n' >"$JAVA"
  chmod 755 "$JAVA"
  migrate && grep -q '^seckill_owner 0wner .*migrate$' "$LOG_DIR/migration.log"
)

that_no_service_reads_the_settings_of_the_directory_of_its_start() (
  APP_DIR=$LOCAL/app
  mkdir -p "$LOCAL/elsewhere/jdk/bin"
  cd "$LOCAL/elsewhere"
  printf '#!/bin/sh\n[ "$1" = -version ] && echo '"'version \"17.0.1\"'"' >&2 || pwd\n' >jdk/bin/java
  chmod 755 jdk/bin/java
  JAVA_HOME=jdk
  choose_java
  choose_ports
  choose_properties
  migrate && grep -qx "$APP_DIR" "$LOG_DIR/migration.log"
  jar_of() { echo /dev/null; }
  start_process() { pwd >"$LOCAL/where"; }
  start_service relay-service && grep -qx "$APP_DIR" "$LOCAL/where"
)

that_the_port_mapper_is_started_again_also_when_every_node_runs() (
  REDIS_NODES='' MYSQL_NODES='' SENTINELS='' RABBITMQ_NODES=rabbitmq EPMD_PORT=1
  renew_redis_users() { true; }
  await_servers() { true; }
  is_running() { [[ $1 == rabbitmq ]]; }
  wait_ready() { true; }
  start_process() { echo "$1" >>"$LOCAL/started"; }
  start_servers >/dev/null
  [[ $(<"$LOCAL/started") == epmd ]]
)
