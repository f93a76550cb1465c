#!/bin/sh
# Verifies the form field `captcha-response` with Gatehouse, once per submission.
# Run: CAPTCHA_URL=… CAPTCHA_SECRET=… sh verify.sh "$FIELD"
set -eu
# The field is JSON, so it has quotes, which a JSON string must escape.
field=$(printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g')
response=$(curl --fail --silent --show-error --max-time 5 "$CAPTCHA_URL/siteverify" \
  -H 'Content-Type: application/json' \
  -d "{\"secret\":\"$CAPTCHA_SECRET\",\"token\":\"$field\"}")
case $response in
*'"verified":true'*) echo verified ;;
*) echo refused ;;
esac
