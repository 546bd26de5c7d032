# shellcheck shell=bash
# The demo catalogue and one purchase, over HTTP.

# The demo's SKUs that have sales of an operator.
NOT_OURS=

http() { # METHOD URL TOKEN [BODY [HEADER…]]: sets STATUS and BODY; fails only without an answer
  local method=$1 url=$2 token=$3 body=${4:-} answer headers=()
  shift $(($# < 4 ? $# : 4))
  local header
  for header in "$@"; do headers+=(-H "$header"); done
  # The token goes through a pipe: arguments can be read by every user of the machine.
  answer=$(curl -q -sS --noproxy '*' -m "${HTTP_SECONDS:-15}" -X "$method" -H @<(printf 'Authorization: Bearer %s\n' "$token") \
    -H 'Content-Type: application/json' "${headers[@]}" ${body:+--data "$body"} -w '\n%{http_code}' "$url" 2>&1) ||
    fail "$method $url was not answered: $answer"
  STATUS=${answer##*$'\n'}
  BODY=${answer%$'\n'*}
}

# 503 means busy or an unknown outcome, after which a reconciliation may still run; the same request is sent again.
http_patiently() { # as http
  local deadline=$((SECONDS + ${PATIENCE_SECONDS:-60}))
  until
    http "$@"
    [[ $STATUS != 503 && "$STATUS $(json_text code)" != '409 RECONCILIATION_RUNNING' ]]
  do
    ((SECONDS < deadline)) || fail "$1 $2 is not served: $BODY"
    sleep 1
  done
}

json_text() { # NAME: the text value of a member of BODY
  [[ $BODY =~ \"$1\"\ *:\ *\"([^\"]*)\" ]] && printf '%s\n' "${BASH_REMATCH[1]}"
}

# After scripts/restore Redis lacks what MySQL has; the file names the sales. The gateway answers within five minutes, and the
# rebuild of ten million orders takes nearly as long. One that could not end is continued by the next.
rebuild_restored_sales() {
  local admin sku deadline
  [[ -e $DATA_DIR/restored ]] || return 0
  for sku in $(<"$DATA_DIR/restored"); do
    deadline=$((SECONDS + ${PATIENCE_SECONDS:-900}))
    while
      admin=$(make_token "$HS256_SECRET" operator seckill.admin 1800)
      HTTP_SECONDS=330 PATIENCE_SECONDS=900 operate "$admin" POST "$sku/reconciliation" '{"dryRun":false}' || continue 2
      say "sale of SKU $sku in Redis: $(json_text outcome). $(json_text detail)"
      [[ $(json_text outcome) == @(UNPROVEN|LOST) ]]
    do
      ((SECONDS < deadline)) || fail "the sale of SKU $sku is not rebuilt: $(json_text outcome); repeat this, which continues"
      sleep 1
    done
  done
  rm "$DATA_DIR/restored"
}

create_catalogue() {
  local admin
  admin=$(make_token "$HS256_SECRET" operator seckill.admin 600)
  ensure_on_sale "$admin" 1001 '"name":"Phone, at most five each","priceCents":49900,"stock":10000,"policy":"LIMITED","limitPerUser":5'
  ensure_on_sale "$admin" 1002 '"name":"Signed print, one each","priceCents":9900,"stock":100,"policy":"ONE_PER_USER","limitPerUser":1'
  ensure_on_sale "$admin" 1003 '"name":"Cable, as many as you like","priceCents":900,"stock":10000,"policy":"UNLIMITED","limitPerUser":0'
}

# Leaves alone a sale that has opened, and one of another name, which is an operator's.
ensure_on_sale() { # TOKEN SKU MEMBERS, the name first: continues where an earlier run stopped
  local token=$1 sku=$2 members=$3 state=''
  http_patiently GET "http://127.0.0.1:$GATEWAY_PORT/api/v1/skus/$sku" "$token"
  case $STATUS in
    200) state=$(json_text state) ;;
    404) ;;
    *) fail "SKU $sku cannot be looked up: $STATUS $BODY" ;;
  esac
  if [[ -n $state && ${members%%,\"*} != "\"name\":\"$(json_text name)\"" ]]; then
    NOT_OURS+=" $sku "
    say "SKU $sku has a sale that is not the demo's: it stays as it is"
    return
  fi
  case $state in '' | NEW | PREHEATED) say "putting SKU $sku on sale" ;; *) return 0 ;; esac
  [[ -n $state ]] || operate "$token" PUT "$sku" \
    "{$members,\"opensAt\":\"$(date -u +%FT%TZ)\",\"closesAt\":\"$(date -u -d '+30 days' +%FT%TZ)\"}"
  [[ $state == PREHEATED ]] || operate "$token" POST "$sku/preheat" || return 0
  operate "$token" POST "$sku/open"
}

# A fallback refuses to preheat a sale or to rebuild it: then this fails without ending the script.
operate() { # TOKEN METHOD PATH [BODY]: a call of the admin API that must succeed
  http_patiently "$2" "http://127.0.0.1:$ADMIN_PORT/admin/v1/skus/$3" "$1" "${4:-}"
  if [[ "$STATUS $(json_text code)" == '409 REFUSED' ]]; then
    say "SKU ${3%%/*} is not loaded into Redis: $(json_text detail)"
    return 1
  fi
  [[ $STATUS == 20? ]] || fail "$2 /admin/v1/skus/$3 was refused with $STATUS: $BODY"
}

# A new shopper each time, so that no quota is exceeded.
buy_one() {
  local shopper token order
  [[ $NOT_OURS != *' 1001 '* ]] || return 0
  shopper=$(date +%s%3N)
  token=$(make_token "$HS256_SECRET" "$shopper" '' 600)
  http_patiently POST "http://127.0.0.1:$GATEWAY_PORT/api/v1/skus/1001/orders" "$token" '{"quantity":1}' \
    "Idempotency-Key: scripts-up-$shopper"
  if [[ $STATUS == 409 ]]; then
    say "no purchase was made, SKU 1001 answers $(json_text code || echo 409)"
    return
  fi
  # 201 when MySQL decides.
  [[ $STATUS == 20[12] ]] || fail "the purchase was refused with $STATUS: $BODY"
  order=$(json_text orderId) || fail "the purchase was answered without an order id: $BODY"
  await_confirmed "$order" "$token"
  say "order $order of shopper $shopper is CONFIRMED, stored in MySQL"
}

await_confirmed() { # ORDER TOKEN
  local deadline=$((SECONDS + 60))
  until [[ $(json_text status) == CONFIRMED ]]; do
    ((SECONDS < deadline)) || fail "order $1 is not confirmed yet: $BODY; see $LOG_DIR/relay-service.log and $LOG_DIR/order-consumer.log"
    sleep 0.2
    http GET "http://127.0.0.1:$GATEWAY_PORT/api/v1/orders/$1" "$2"
  done
}
