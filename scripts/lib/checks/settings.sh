# shellcheck shell=bash
# Ports, secrets and the form of a pipeline, which later starts keep.

that_wrong_ports_are_refused() {
  (SECKILL_REDIS_PORT=99999 refuses_with SECKILL_REDIS_PORT choose_ports) &&
    (SECKILL_REDIS_PORT=x refuses_with SECKILL_REDIS_PORT choose_ports) &&
    (SECKILL_REDIS_PORT=4444 SECKILL_AMQP_PORT=4444 refuses_with 'chosen twice' choose_ports)
}

that_ports_that_linux_gives_to_clients_are_said() {
  choose_ports
  [[ -z $(warn_of_client_ports 32768 60999) && -z $(warn_of_client_ports 18082 60999 1-65535) && -z $(warn_of_client_ports 18084 60999) ]]
  [[ -z $(warn_of_client_ports 18081 18083 8080,18000-18081,18082,18083-18090) && -z $(warn_of_client_ports) && -z $(warn_of_client_ports 8080) ]]
  [[ $(warn_of_client_ports 18081 18082) == *ip_local_reserved_ports=18081,18082\ keeps* && $(warn_of_client_ports 1024 65535) == *=18080,18081,*,15650\ keeps* ]]
  [[ $(warn_of_client_ports 18080 18083 8080,18081-18082) == *ip_local_reserved_ports=8080,18081-18082,18080,18083\ keeps* ]]
}

that_ports_are_remembered_and_may_not_change_under_what_runs() {
  (SECKILL_REDIS_PORT=4444 && choose_ports && remember_ports) &&
    (choose_ports && [[ $REDIS_PORT == 4444 && $AMQP_PORT == 15670 ]] && refuse_other_ports) &&
    (SECKILL_REDIS_PORT=5555 && choose_ports && refuses_with 'run scripts/down' refuse_other_ports)
}

that_no_secret_is_empty() (
  openssl() { false; }
  refuses_with 'REDIS_GATEWAY_PASSWORD cannot be generated' load_secrets && [[ ! -e $LOCAL/secrets ]]
)

that_no_secret_comes_from_the_environment() (
  export HS256_SECRET=leaked
  load_secrets
  [[ $HS256_SECRET =~ ^[0-9a-f]{64}$ ]]
  grep -qx "HS256_SECRET=$HS256_SECRET" "$LOCAL/secrets"
)

that_a_port_of_another_program_is_not_remembered() {
  eval "$(sed -n '/^check_ports() {/,/^}/p' "$ROOT/scripts/up")"
  MODE=processes
  anything_runs() { false; }
  port_answers() { [[ $1 == 4444 ]]; }
  (SECKILL_REDIS_PORT=4444 && choose_ports && refuses_with 'is taken by another program' check_ports is_running) &&
    choose_ports && [[ $REDIS_PORT == 16379 ]] && check_ports is_running && [[ -e $LOCAL/ports ]]
}

that_up_refuses_what_it_cannot_do() {
  refuses_with usage "$ROOT/scripts/up" --sentinel &&
    refuses_with 'starts processes' "$ROOT/scripts/up" --docker --ha &&
    refuses_with 'no property seckill.fallbck' "$ROOT/scripts/up" seckill.fallbck=off &&
    refuses_with 'no property seckill.admission.channel' "$ROOT/scripts/up" seckill.admission.channel=direct &&
    refuses_with 'scripts/up sets seckill.redis.url itself' "$ROOT/scripts/up" seckill.redis.url=redis://127.0.0.1
}

# With other data on the same ports it would seem to have lost everything.
that_up_without_an_option_starts_the_form_of_the_last_start() (
  eval "$(sed -nE '/^(choose_mode|repeat_form|refuse_other_mode|anything_runs|services_run|processes_run)\(\) \{/,/^}/p' "$ROOT/scripts/up")"
  RUN_DIR=$LOCAL/run
  is_root() { true; }
  is_debian_12() { true; }
  form() { (choose_mode "$@" && echo "$CHOSEN"); }
  [[ $(form) == 'processes single' ]]
  echo 'processes ha' >"$LOCAL/mode"
  [[ $(form seckill.fallback=manual) == 'processes ha' && $(form --docker) == 'docker single' && $(form --single) == 'processes single' ]]
  echo 'docker single' >"$LOCAL/mode"
  [[ $(form --servers) == 'docker single' && $(form --ha) == 'processes ha' && $(form --single) == 'processes single' ]]
)

# A later start without an option would fail for the same image.
that_up_keeps_the_former_form_when_an_image_is_missing() (
  eval "$(sed -nE '/^prepare\(\) \{/,/^}/p' "$ROOT/scripts/up")"
  for part in require_memory require_docker check_ports refuse_lost_passwords load_secrets; do eval "$part() { true; }"; done
  can_build() { false; }
  has_image() { [[ $HERE == "$1" ]]; }
  MODE=docker CHOSEN='docker single' PROPERTIES=seckill.fallback=manual ONLY_SERVERS=no HERE=redis:8
  echo 'processes ha' >"$LOCAL/mode"
  refuses_with 'cannot be pulled' prepare && [[ $(<"$LOCAL/mode") == 'processes ha' && ! -e $LOCAL/properties ]] || exit 1
  has_image() { true; }
  prepare
  [[ $(<"$LOCAL/mode") == 'docker single' && $IMAGES == *REDIS_IMAGE=* && -e $LOCAL/properties ]]
)

that_every_part_of_the_ha_form_has_ports_and_settings() (
  use_ha
  choose_ports
  local service
  [[ $(port_of REDIS redis-2) == 16372 && $(addresses_of AMQP rabbitmq-1 rabbitmq-2 rabbitmq-3) == 127.0.0.1:15671,127.0.0.1:15672,127.0.0.1:15673 ]]
  for service in $GATEWAYS $RELAYS $CONSUMERS; do
    (
      common_environment "$service"
      [[ $SERVER_PORT != "$GATEWAY_PORT" && $SECKILL_REDIS_MODE == sentinel && $SECKILL_REDIS_NODES == *:16391,*:16392,*:16393 ]]
    )
  done
)

that_operators_have_the_address_of_the_primary() (
  use_ha
  DATA_DIR=$LOCAL
  choose_ports
  echo mysql-2 >"$DATA_DIR/mysql-primary"
  write_env
  grep -q "^MYSQL_URL=mysql://127.0.0.1:$(port_of MYSQL mysql-2)/" "$LOCAL/env"
)

that_a_script_that_needs_a_port_chooses_the_ports() {
  local script
  while read -r script; do
    grep -q '^ *choose_ports' "$script" || { echo "$script"; return 1; }
  done < <(grep -ls port_of "$ROOT"/scripts/*)
}

that_haproxy_accepts_its_configuration() (
  use_ha
  choose_ports
  haproxy_environment
  haproxy -c -f "$ROOT/deploy/haproxy/haproxy.cfg"
)

# A later start without a port of its own has those that it has had.
that_sentinels_of_other_ports_are_refused_before_ports_are_remembered() (
  use_ha
  DATA_DIR=$LOCAL/data MODE=processes
  eval "$(sed -n '/^check_ports() {/,/^}/p' "$ROOT/scripts/up")"
  anything_runs() { false; }
  require_free_ports() { true; }
  choose_ports
  check_ports is_running
  mkdir -p "$DATA_DIR/sentinel-2"
  sentinel_start 127.0.0.1 "$(port_of REDIS redis-3)" >"$DATA_DIR/sentinel-2/sentinel.conf"
  (SECKILL_REDIS_1_PORT=4441 && choose_ports && check_ports is_running)
  (SECKILL_REDIS_3_PORT=4443 && choose_ports && refuses_with 'other ports, 16373 is one of them' check_ports is_running)
  choose_ports
  check_ports is_running
  [[ $(port_of REDIS redis-1) == 4441 && $(port_of REDIS redis-3) == 16373 ]]
)
