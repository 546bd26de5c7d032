# shellcheck shell=bash
# Ports and secrets of this pipeline: chosen or generated once, stored under .local.

# The single form: one of each server and service. use_ha replaces these lists and the ports.
FORM=single
REDIS_NODES=redis
SENTINELS=
RABBITMQ_NODES=rabbitmq
MYSQL_NODES=mysql
CONSUMERS=order-consumer
RELAYS=relay-service
GATEWAYS=gateway-service

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
HA_PORTS='
GATEWAY      18080 haproxy    the shop API
ADMIN        18081 haproxy    the admin API
CONSUMER     18083 haproxy    the order-consumers
GATEWAY_1    18180 gateway-1  the shop API of gateway-1
GATEWAY_2    18280 gateway-2  the shop API of gateway-2
ADMIN_1      18181 gateway-1  the admin API of gateway-1
ADMIN_2      18281 gateway-2  the admin API of gateway-2
RELAY_1      18182 relay-1    relay-1
RELAY_2      18282 relay-2    relay-2
CONSUMER_1   18183 consumer-1 consumer-1
CONSUMER_2   18283 consumer-2 consumer-2
REDIS_1      16371 redis-1    Redis
REDIS_2      16372 redis-2    Redis
REDIS_3      16373 redis-3    Redis
MYSQL_1      13301 mysql-1    MySQL
MYSQL_2      13302 mysql-2    MySQL
AMQP_1       15671 rabbitmq-1 RabbitMQ
AMQP_2       15672 rabbitmq-2 RabbitMQ
AMQP_3       15673 rabbitmq-3 RabbitMQ
MANAGEMENT_1 15681 rabbitmq-1 the RabbitMQ management UI
MANAGEMENT_2 15682 rabbitmq-2 the RabbitMQ management UI
MANAGEMENT_3 15683 rabbitmq-3 the RabbitMQ management UI
PROMETHEUS_1 15691 rabbitmq-1 the RabbitMQ metrics
PROMETHEUS_2 15692 rabbitmq-2 the RabbitMQ metrics
PROMETHEUS_3 15693 rabbitmq-3 the RabbitMQ metrics
ERLANG_1     15661 rabbitmq-1 the Erlang distribution of RabbitMQ
ERLANG_2     15662 rabbitmq-2 the Erlang distribution of RabbitMQ
ERLANG_3     15663 rabbitmq-3 the Erlang distribution of RabbitMQ
EPMD         15650 epmd       the Erlang port mapper
SENTINEL_1   16391 sentinel-1 Redis Sentinel
SENTINEL_2   16392 sentinel-2 Redis Sentinel
SENTINEL_3   16393 sentinel-3 Redis Sentinel
'
SECRETS='
REDIS_GATEWAY_PASSWORD REDIS_RELAY_PASSWORD REDIS_CONSUMER_PASSWORD REDIS_ADMIN_PASSWORD
REDIS_REPLICA_PASSWORD REDIS_SENTINEL_PASSWORD
AMQP_GATEWAY_PASSWORD AMQP_RELAY_PASSWORD AMQP_CONSUMER_PASSWORD AMQP_ADMIN_PASSWORD ERLANG_COOKIE
MYSQL_ROOT_PASSWORD MYSQL_OWNER_PASSWORD MYSQL_CONSUMER_PASSWORD MYSQL_GATEWAY_PASSWORD MYSQL_REPLICA_PASSWORD
HS256_SECRET INTERNAL_TOKEN PAYMENT_CALLBACK_SECRET
'

use_ha() {
  FORM=ha PORTS=$HA_PORTS
  REDIS_NODES='redis-1 redis-2 redis-3'
  SENTINELS='sentinel-1 sentinel-2 sentinel-3'
  RABBITMQ_NODES='rabbitmq-1 rabbitmq-2 rabbitmq-3'
  MYSQL_NODES='mysql-1 mysql-2'
  CONSUMERS='consumer-1 consumer-2'
  RELAYS='relay-1 relay-2'
  GATEWAYS='gateway-1 gateway-2'
}

is_ha() { # no part alone
  [[ $FORM == ha ]]
}

# scripts/up sets these itself: no two services have the same, or scripts call with them.
OWN_PROPERTIES='server\.(port|address)|spring\.(datasource|flyway)\.(url|username|user|password)|seckill\.(admin\.(port|address)|broker\.urls|consumer\.url|internal\.token|migration\.enabled|ops\.broker-ui-url|payment\.callback-secret|redis\.(mode|url|nodes|master)|relay\.name|security\.hs256-secret)'

# Sets PROPERTIES: those of last time, KEPT, and those given, a line each; an empty value takes the default again. They are
# kept once nothing refuses them (remember_properties), and a service may still refuse them later (end_failed_start).
choose_properties() { # NAME=VALUE…
  local given name
  KEPT=$(cat "$LOCAL/properties" 2>/dev/null) || KEPT=
  PROPERTIES=$KEPT
  for given in "$@"; do
    name=${given%%=*}
    # The document has paths in backquotes, too, which make no variable.
    if [[ ! $name =~ ^[a-z][A-Za-z0-9_.-]*[A-Za-z0-9]$ ]] ||
      { [[ $name != logging.level.* ]] && ! grep -qF "\`$name\`" "$ROOT/docs/configuration.md"; }; then
      fail "there is no property $name; docs/configuration.md lists them"
    fi
    refuse_changed_value "$name" "${given#*=}"
    [[ $PROPERTIES != *"$name="* ]] || PROPERTIES=$(sed "/^${name//./\\.}=/d" <<<"$PROPERTIES")
    [[ -z ${given#*=} ]] || PROPERTIES+=${PROPERTIES:+$'\n'}$given
  done
  while IFS= read -r given; do refuse_changed_value "${given%%=*}" "${given#*=}"; done <<<"$PROPERTIES" # kept, too
  ! name=$(grep -E "^($OWN_PROPERTIES)=" <<<"$PROPERTIES") ||
    fail "scripts/up sets ${name%%=*} itself: SECKILL_<NAME>_PORT chooses a port, and .local/secrets has the secrets"
  name=$(provider_directory)
  # order-consumer runs elsewhere; Java separates directories by a comma, Compose its paths by a colon.
  [[ -z $name || ($name == /* && $name != *[:,]* && -d $name) ]] || fail "loader.path must be the whole path of a directory without : and ,"
}

provider_directory() { # prints the one with the jars of a payment provider, if there is one
  sed -n 's/^loader\.path=//p' <<<"$PROPERTIES"
}

# A line is a property. Compose takes a pair of quotes away, drops or refuses the line of a single one, replaces $NAME, and
# ends a value before a comment.
refuse_changed_value() { # NAME VALUE
  local changed=$'^["\']|[[:cntrl:]$]|[[:space:]](#|$)'
  [[ ! $2 =~ $changed ]] ||
    fail "the value of $1 must be one line without \$ and ' #' that neither begins with a quote nor ends with a space"
}

remember_properties() {
  if [[ -n $PROPERTIES ]]; then write_file "$LOCAL/properties" <<<"$PROPERTIES"; else rm -f "$LOCAL/properties"; fi
}

# Ends this call when a service has not started, with its log as standard input. If the log names properties as the reason,
# the call changes nothing: its services stop, and later ones have the properties of before. A failure for another
# reason keeps them: a restored sale, for one, must not lose its longer time to pay.
end_failed_start() { # COMMAND: stops the services; before a call that changes properties none runs
  local log refused reason said
  log=$(sed -n '/APPLICATION FAILED TO START\|Application run failed/,$p')
  refused=$(refused_properties "$log")
  if [[ -z $refused ]]; then
    [[ -n $PROPERTIES ]] || exit 1
    fail "later starts have these properties, too: ${PROPERTIES//$'\n'/ }; scripts/down, then scripts/up NAME= takes the default of one again"
  fi
  if [[ $PROPERTIES != "$KEPT" ]]; then
    "$1"
    PROPERTIES=$KEPT
    remember_properties
  fi
  reason=$(sed -n '/.*    Reason: /{s///p;q}' <<<"$log")
  said="refused: ${refused//$'\n'/ }${reason:+ ($reason)}"
  ! grep -qvxF -e "$KEPT" <<<"$refused" || fail "$said; later starts have the properties of before"
  fail "$said; scripts/down, then scripts/up $(grep -o '^[^=]*=' <<<"$refused" | paste -sd ' ') takes the default again"
}

# Prints those that the log of a failed start names, else those of the group that it names.
refused_properties() { # LOG
  local property name names='' group=''
  while read -r property; do
    name=${property%%=*}
    [[ -n $name ]] || continue
    [[ $1 != *"$name"* ]] || names+=$property$'\n'
    [[ $1 != *"under '${name%.*}'"* ]] || group+=$property$'\n'
  done <<<"$PROPERTIES"
  printf %s "${names:-$group}"
}

# What every service gets beside its addresses and secrets, as environment variables: a.b-c=1 becomes A_BC=1.
property_lines() {
  local property name
  echo SECKILL_WARMUP_REQUESTS=100000
  if is_ha && [[ ! $PROPERTIES =~ seckill\.admission\.durable-in=(redis|broker) ]]; then
    printf 'SECKILL_ADMISSION_DURABLEIN=replicas\nSECKILL_ADMISSION_REPLICAS=1\n'
  fi
  while read -r property; do
    name=${property%%=*} name=${name//./_} name=${name//-/}
    [[ -z $property ]] || printf '%s=%s\n' "${name^^}" "${property#*=}"
  done <<<"$PROPERTIES"
}

# After one purchase 1.6 GB are used, with --ha 4 GB; heaps grow during a sale.
require_memory() { # KILOBYTES: of this machine, swap included
  local needed=2500000
  ! is_ha || needed=5000000
  (($1 >= needed)) || fail "this machine has $(($1 / 1000)) MB of memory and swap, and $((needed / 1000)) MB are needed"
}

number_of() { # PART: 2 of redis-2, nothing of redis
  [[ ! $1 =~ -([0-9])$ ]] || printf %s "${BASH_REMATCH[1]}"
}

port_of() { # NAME PART: REDIS redis-2 is REDIS_2_PORT, REDIS redis is REDIS_PORT
  local number variable
  number=$(number_of "$2")
  variable=$1${number:+_$number}_PORT
  printf %s "${!variable}"
}

addresses_of() { # NAME PART…: host:port of each, separated by commas
  local part addresses=''
  for part in "${@:2}"; do addresses+=,127.0.0.1:$(port_of "$1" "$part"); done
  printf %s "${addresses#,}"
}

# Sets GATEWAY_PORT, ADMIN_PORT, …: from the environment, else as last time, else the default.
choose_ports() {
  local name default rest variable value line remembered=()
  [[ ! -e $LOCAL/ports ]] || mapfile -t remembered <"$LOCAL/ports"
  while read -r name default rest; do
    [[ -n $name ]] || continue
    variable=SECKILL_${name}_PORT
    value=''
    for line in "${remembered[@]}"; do [[ $line != "$name="* ]] || value=${line#*=}; done
    value=${!variable:-${value:-$default}}
    if [[ ! $value =~ ^[1-9][0-9]{0,4}$ ]] || ((value > 65535)); then
      fail "$variable must be a port, 1 to 65535, but is '$value'"
    fi
    printf -v "${name}_PORT" %s "$value"
  done <<<"$PORTS"
  refuse_shared_ports
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

# A server that is started again cannot have a port that a client has meanwhile.
warn_of_client_ports() { # [FIRST LAST [RESERVED]]: what Linux gives clients, and what it keeps from them
  local ports
  (($# >= 2)) || return 0
  ports=$(port_lines | awk -F= -v first="$1" -v last="$2" -v reserved="${3:-}" '
    BEGIN { n = split(reserved, ranges, ",") }
    { for (i = 1; i <= n; i++) { m = split(ranges[i], ends, "-"); if ($2 >= ends[1] && $2 <= ends[m]) next } }
    $2 >= first && $2 <= last { print $2 }' | paste -sd ,)
  [[ -z $ports ]] ||
    say "warning: a client may get a port of the pipeline, and the server could not start again; sysctl -w net.ipv4.ip_local_reserved_ports=${3:+$3,}$ports keeps them"
}

# Ports cannot change while the pipeline is running.
refuse_other_ports() {
  [[ ! -e $LOCAL/ports ]] || port_lines | cmp -s - "$LOCAL/ports" ||
    fail "the pipeline is running on other ports ($(paste -sd ' ' "$LOCAL/ports")); run scripts/down before changing them"
}

# Once nothing refuses them.
remember_ports() {
  port_lines | write_file "$LOCAL/ports"
}

# Generates each secret once; sets a variable of its name.
load_secrets() {
  local name secret changed=no
  # Those of the environment are another pipeline's, or the ones to replace.
  # shellcheck disable=SC2086 # names are words
  unset $SECRETS
  # shellcheck source=/dev/null
  [[ ! -e $LOCAL/secrets ]] || . "$LOCAL/secrets"
  for name in $SECRETS; do
    [[ -z ${!name:-} ]] || continue
    # Hex needs no escaping in a URL; 64 characters are twice the minimum of HS256.
    secret=$(openssl rand -hex 32) || fail "the secret $name cannot be generated"
    printf -v "$name" %s "$secret"
    changed=yes
  done
  [[ $changed == no ]] || secret_lines | write_file "$LOCAL/secrets"
}

secret_lines() {
  local name
  for name in $SECRETS; do printf '%s=%s\n' "$name" "${!name}"; done
}

# For people, tests and tools: . .local/env. Of several nodes it names the first, of MySQL's the primary.
write_env() {
  local rabbitmq=${RABBITMQ_NODES%% *}
  {
    cat <<END
GATEWAY_URL=http://127.0.0.1:$GATEWAY_PORT
ADMIN_URL=http://127.0.0.1:$ADMIN_PORT
RELAY_URL=http://127.0.0.1:$(port_of RELAY "${RELAYS%% *}")
CONSUMER_URL=http://127.0.0.1:$CONSUMER_PORT
INTERNAL_TOKEN=$INTERNAL_TOKEN
HS256_SECRET=$HS256_SECRET
PAYMENT_CALLBACK_SECRET=$PAYMENT_CALLBACK_SECRET
MANAGEMENT_UI_URL=http://127.0.0.1:$(port_of MANAGEMENT "$rabbitmq")
MANAGEMENT_UI_USER=admin
MANAGEMENT_UI_PASSWORD=$AMQP_ADMIN_PASSWORD
AMQP_URL=amqp://admin:$AMQP_ADMIN_PASSWORD@127.0.0.1:$(port_of AMQP "$rabbitmq")/seckill
MYSQL_URL=mysql://127.0.0.1:$(port_of MYSQL "$(mysql_primary)")/seckill
MYSQL_USER=seckill_owner
MYSQL_PASSWORD=$MYSQL_OWNER_PASSWORD
REDIS_URL=redis://admin:$REDIS_ADMIN_PASSWORD@127.0.0.1:$(port_of REDIS "${REDIS_NODES%% *}")
END
    # shellcheck disable=SC2086 # names are words
    ! is_ha || printf 'REDIS_SENTINELS=%s\n' "$(addresses_of SENTINEL $SENTINELS)"
  } | write_file "$LOCAL/env"
}
