#!/bin/sh
# Asks Gatehouse about the form field `captcha-response`, once per submission; a text without quotes or
# backslashes, so a bare token. Run: CAPTCHA_URL=… CAPTCHA_SECRET=… sh verify.sh TOKEN
set -eu
answer=$(curl --fail --silent --show-error --max-time 5 "$CAPTCHA_URL/siteverify" \
  -H 'Content-Type: application/json' \
  -d "{\"secret\":\"$CAPTCHA_SECRET\",\"token\":\"$1\"}")
case $answer in
*'"verified":true'*) echo verified ;;
*) echo refused ;;
esac
