# shellcheck shell=bash
# The demo catalogue, its purchase, and the sales that a restore rebuilds.

that_a_reconciliation_that_still_runs_is_waited_for() (
  services_answer '409 {"code":"RECONCILIATION_RUNNING"}' '503 {"code":"UNAVAILABLE"}' '200 {"outcome":"CLEAN"}'
  operate token POST 1001/reconciliation '{}' && [[ $(json_text outcome) == CLEAN ]]
)

services_answer() { # ANSWER…: one after the other
  # shellcheck source=/dev/null
  . "$ROOT/scripts/lib/demo.sh"
  GATEWAY_PORT=1 ADMIN_PORT=1 ANSWERS=("$@")
  http() {
    echo "$1" >>"$LOCAL/asked"
    read -r STATUS BODY <<<"${ANSWERS[0]}"
    ANSWERS=("${ANSWERS[@]:1}")
  }
}

that_a_purchase_of_a_fallback_counts() (
  services_answer '201 {"orderId":"7","status":"CONFIRMED","position":null,"durableIn":"MYSQL"}'
  [[ $(buy_one) == *'order 7 '*CONFIRMED* ]]
)

that_a_fallback_loads_nothing_and_ends_nothing() (
  DATA_DIR=$LOCAL
  printf '1001\n1002\n' >"$LOCAL/restored"
  services_answer '409 {"code":"REFUSED"}' '200 {"outcome":"REBUILT"}' '200 {"state":"NEW","name":"Cable"}' '409 {"code":"REFUSED"}'
  rebuild_restored_sales >"$LOCAL/said"
  grep -q 'SKU 1001 is not loaded' "$LOCAL/said" && grep -q 'SKU 1002 in Redis: REBUILT' "$LOCAL/said" && [[ ! -e $LOCAL/restored ]]
  ensure_on_sale token 1003 '"name":"Cable","stock":10' >"$LOCAL/said"
  grep -q 'SKU 1003 is not loaded' "$LOCAL/said"
)

that_the_demo_opens_and_buys_no_sale_of_an_operator() (
  local asked=$LOCAL/asked
  services_answer '200 {"state":"PREHEATED","name":"Mine"}' '200 {"state":"NEW","name":"Mine"}' '200 {"state":"OPEN","name":"Mine"}'
  for sku in 1002 1003 1001; do ensure_on_sale token "$sku" '"name":"Phone","stock":10'; done
  buy_one
  [[ $(<"$asked") == $'GET\nGET\nGET' ]] || exit 1
  services_answer '200 {"state":"PREHEATED","name":"Phone"}' '200 {"state":"OPEN"}'
  ensure_on_sale token 1001 '"name":"Phone","stock":10'
  [[ $(tail -n 2 "$asked") == $'GET\nPOST' ]]
)

that_a_restored_sale_counts_when_it_is_rebuilt() (
  DATA_DIR=$LOCAL
  sleep() { true; }
  echo 1001 >"$LOCAL/restored"
  services_answer '200 {"outcome":"UNPROVEN"}' '200 {"outcome":"LOST"}' '200 {"outcome":"REBUILT"}'
  rebuild_restored_sales
  [[ $(wc -l <"$LOCAL/asked") == 3 && ! -e $LOCAL/restored ]] || exit 1
  echo 1001 >"$LOCAL/restored"
  PATIENCE_SECONDS=0
  services_answer '200 {"outcome":"UNPROVEN"}'
  refuses_with 'not rebuilt: UNPROVEN' rebuild_restored_sales && [[ -e $LOCAL/restored ]]
)
