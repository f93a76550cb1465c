<?php
// Verifies the form field `captcha-response` with Gatehouse, once per submission.
// Run: CAPTCHA_URL=… CAPTCHA_SECRET=… php verify.php "$FIELD"

/** Throws when the call fails. Treat that as "not verified". */
function is_verified(string $field, ?string $ip = null): bool
{
    $request = ['secret' => getenv('CAPTCHA_SECRET'), 'token' => $field] + ($ip === null ? [] : ['ip' => $ip]);
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => 'Content-Type: application/json',
        'content' => json_encode($request, JSON_THROW_ON_ERROR),
        'timeout' => 5,
    ]]);
    // This is false for an error status (400, 401: the call is wrong) and when the network is down.
    $response = @file_get_contents(getenv('CAPTCHA_URL') . '/siteverify', false, $context);
    if ($response === false) {
        throw new RuntimeException('the captcha call failed: ' . ($http_response_header[0] ?? 'no response'));
    }
    return json_decode($response, true, 8, JSON_THROW_ON_ERROR)['verified'] === true;
}

if (PHP_SAPI === 'cli' && realpath($argv[0]) === __FILE__) {
    echo is_verified($argv[1]) ? "verified\n" : "refused\n";
}
