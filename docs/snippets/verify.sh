#!/bin/sh
# Verifies a token with Gatehouse, once per submission. The token must not contain quotes or
# backslashes: pass the bare token, not the whole field. Run: CAPTCHA_URL=… CAPTCHA_SECRET=… sh verify.sh TOKEN
set -eu
response=$(curl --fail --silent --show-error --max-time 5 "$CAPTCHA_URL/siteverify" \
  -H 'Content-Type: application/json' \
  -d "{\"secret\":\"$CAPTCHA_SECRET\",\"token\":\"$1\"}")
case $response in
*'"verified":true'*) echo verified ;;
*) echo refused ;;
esac
