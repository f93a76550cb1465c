<?php
// Asks Gatehouse about the form field `captcha-response`, once per submission.
// Run: CAPTCHA_URL=… CAPTCHA_SECRET=… php verify.php "$FIELD"

/** Throws when the question could not be asked: treat that as "not verified". */
function is_human(string $field, ?string $ip = null): bool
{
    $question = ['secret' => getenv('CAPTCHA_SECRET'), 'token' => $field] + ($ip === null ? [] : ['ip' => $ip]);
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => 'Content-Type: application/json',
        'content' => json_encode($question, JSON_THROW_ON_ERROR),
        'timeout' => 5,
    ]]);
    // A status of 400 or 401 (the set-up is wrong) makes this false, as does a network that is down.
    $answer = @file_get_contents(getenv('CAPTCHA_URL') . '/siteverify', false, $context);
    if ($answer === false) {
        throw new RuntimeException('captcha could not be asked: ' . ($http_response_header[0] ?? 'no answer'));
    }
    return json_decode($answer, true, 8, JSON_THROW_ON_ERROR)['verified'] === true;
}

if (PHP_SAPI === 'cli' && realpath($argv[0]) === __FILE__) {
    echo is_human($argv[1]) ? "verified\n" : "refused\n";
}
