# Verifies the form field `captcha-response` with Gatehouse, once per submission.
# Run: CAPTCHA_URL=… CAPTCHA_SECRET=… python3 verify.py "$FIELD"
import json
import os
import sys
import urllib.request


def is_verified(field, ip=None):
    """Raises when the call fails. Treat that as "not verified"."""
    fields = {"secret": os.environ["CAPTCHA_SECRET"], "token": field}
    if ip:
        fields["ip"] = ip
    request = urllib.request.Request(
        os.environ["CAPTCHA_URL"] + "/siteverify",
        json.dumps(fields).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=5) as response:
        return json.load(response)["verified"] is True


if __name__ == "__main__":
    print("verified" if is_verified(sys.argv[1]) else "refused")
