# shellcheck shell=bash
# JSON Web Tokens for local use, signed with HS256.

base64url() {
  base64 -w 0 | tr '+/' '-_' | tr -d '='
}

from_hex() { # HEX: prints the bytes
  # shellcheck disable=SC2001,SC2059 # each pair of digits becomes an escape, and the format is the bytes
  printf "$(sed 's/../\\x&/g' <<<"$1")"
}

# RFC 2104. By hand, because a key given to openssl as an argument could be read by every user of the machine.
hmac_sha256() { # KEY MESSAGE: both text, the key at most 64 bytes of ASCII; prints hex
  local key=$1 message=$2 inner='' outer='' i byte hex
  for ((i = 0; i < 64; i++)); do
    byte=0
    ((i >= ${#key})) || printf -v byte %d "'${key:i:1}"
    printf -v hex %02x $((byte ^ 0x36)) && inner+=$hex
    printf -v hex %02x $((byte ^ 0x5c)) && outer+=$hex
  done
  hex=$({ from_hex "$inner" && printf %s "$message"; } | sha256sum | cut -c 1-64)
  { from_hex "$outer" && from_hex "$hex"; } | sha256sum | cut -c 1-64
}

make_token() { # SECRET SUBJECT SCOPE LIFETIME-IN-SECONDS; an empty scope is omitted
  local now scope='' head body
  printf -v now '%(%s)T' -1
  [[ -z $3 ]] || scope=",\"scope\":\"$3\""
  head=$(printf '{"alg":"HS256","typ":"JWT"}' | base64url)
  body=$(printf '{"sub":"%s","iat":%d,"exp":%d%s}' "$2" "$now" $((now + $4)) "$scope" | base64url)
  printf '%s.%s.%s\n' "$head" "$body" "$(from_hex "$(hmac_sha256 "$1" "$head.$body")" | base64url)"
}
