# shellcheck shell=bash
# Ports and secrets of this pipeline: chosen or generated once, stored under .local.

# name, default, owner, what listens there; SECKILL_<name>_PORT chooses another
PORTS='
GATEWAY    18080 gateway-service the shop API
ADMIN      18081 gateway-service the admin API
RELAY      18082 relay-service   relay-service
CONSUMER   18083 order-consumer  order-consumer
REDIS      16379 redis           Redis
MYSQL      13306 mysql           MySQL
AMQP       15670 rabbitmq        RabbitMQ
MANAGEMENT 15680 rabbitmq        the RabbitMQ management UI
PROMETHEUS 15690 rabbitmq        the RabbitMQ metrics
ERLANG     15660 rabbitmq        the Erlang distribution of RabbitMQ
EPMD       15650 epmd            the Erlang port mapper
'
SECRETS='
REDIS_GATEWAY_PASSWORD REDIS_RELAY_PASSWORD REDIS_CONSUMER_PASSWORD REDIS_ADMIN_PASSWORD
AMQP_GATEWAY_PASSWORD AMQP_RELAY_PASSWORD AMQP_CONSUMER_PASSWORD AMQP_ADMIN_PASSWORD
MYSQL_ROOT_PASSWORD MYSQL_OWNER_PASSWORD MYSQL_CONSUMER_PASSWORD MYSQL_GATEWAY_PASSWORD
HS256_SECRET INTERNAL_TOKEN PAYMENT_CALLBACK_SECRET
'

# Sets GATEWAY_PORT, ADMIN_PORT, …: from the environment, else as last time, else the default.
choose_ports() {
  local name default rest variable value remembered=()
  [[ ! -e $LOCAL/ports ]] || mapfile -t remembered <"$LOCAL/ports"
  while read -r name default rest; do
    [[ -n $name ]] || continue
    variable=SECKILL_${name}_PORT
    value=$(remembered_port "$name" "${remembered[@]}")
    value=${!variable:-${value:-$default}}
    if [[ ! $value =~ ^[1-9][0-9]{0,4}$ ]] || ((value > 65535)); then
      fail "$variable must be a port, 1 to 65535, but is '$value'"
    fi
    printf -v "${name}_PORT" %s "$value"
  done <<<"$PORTS"
  refuse_shared_ports
}

remembered_port() { # NAME LINE…
  local line
  for line in "${@:2}"; do
    [[ $line != "$1="* ]] || printf '%s' "${line#*=}"
  done
}

refuse_shared_ports() {
  local twice
  twice=$(port_lines | cut -d= -f2 | sort | uniq -d | head -n 1)
  [[ -z $twice ]] || fail "port $twice is chosen twice: $(port_lines | grep "=$twice\$" | paste -sd ' ')"
}

port_lines() { # NAME=PORT, a line each
  local name rest variable
  while read -r name rest; do
    [[ -n $name ]] || continue
    variable=${name}_PORT
    printf '%s=%s\n' "$name" "${!variable}"
  done <<<"$PORTS"
}

# Runs before anything is built or started, so that a port in use by another program is reported at once.
require_free_ports() { # IS-OURS: a command that succeeds when the named owner is running already
  local name default owner what variable
  while read -r name default owner what; do
    [[ -n $name ]] || continue
    variable=${name}_PORT
    if ! "$1" "$owner" && port_answers "${!variable}"; then
      fail "port ${!variable}, wanted for $what, is taken by another program; free it or set SECKILL_$variable to another port"
    fi
  done <<<"$PORTS"
}

# Ports cannot change while the pipeline is running.
remember_ports() { # RUNNING: yes or no
  if [[ $1 == yes && -e $LOCAL/ports ]] && ! port_lines | cmp -s - "$LOCAL/ports"; then
    fail "the pipeline is running on other ports ($(paste -sd ' ' "$LOCAL/ports")); run scripts/down before changing them"
  fi
  port_lines | write_file "$LOCAL/ports"
}

# Generates each secret once; sets a variable of its name.
load_secrets() {
  local name changed=no
  # shellcheck source=/dev/null
  [[ ! -e $LOCAL/secrets ]] || . "$LOCAL/secrets"
  for name in $SECRETS; do
    [[ -z ${!name:-} ]] || continue
    # Hex needs no escaping in a URL; 64 characters are twice the minimum of HS256.
    printf -v "$name" %s "$(openssl rand -hex 32)"
    changed=yes
  done
  [[ $changed == no ]] || secret_lines | write_file "$LOCAL/secrets"
}

secret_lines() {
  local name
  for name in $SECRETS; do printf '%s=%s\n' "$name" "${!name}"; done
}

# For people, tests and tools: . .local/env
write_env() {
  write_file "$LOCAL/env" <<END
GATEWAY_URL=http://127.0.0.1:$GATEWAY_PORT
ADMIN_URL=http://127.0.0.1:$ADMIN_PORT
RELAY_URL=http://127.0.0.1:$RELAY_PORT
CONSUMER_URL=http://127.0.0.1:$CONSUMER_PORT
INTERNAL_TOKEN=$INTERNAL_TOKEN
HS256_SECRET=$HS256_SECRET
PAYMENT_CALLBACK_SECRET=$PAYMENT_CALLBACK_SECRET
MANAGEMENT_UI_URL=http://127.0.0.1:$MANAGEMENT_PORT
MANAGEMENT_UI_USER=admin
MANAGEMENT_UI_PASSWORD=$AMQP_ADMIN_PASSWORD
AMQP_URL=amqp://admin:$AMQP_ADMIN_PASSWORD@127.0.0.1:$AMQP_PORT/seckill
MYSQL_URL=mysql://127.0.0.1:$MYSQL_PORT/seckill
MYSQL_USER=seckill_owner
MYSQL_PASSWORD=$MYSQL_OWNER_PASSWORD
REDIS_URL=redis://admin:$REDIS_ADMIN_PASSWORD@127.0.0.1:$REDIS_PORT
END
}
