/** The demo site's page: a form, a fetch, an event stream and a WebSocket to try the gate with. No inline script. */
export const demoPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Demo site</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}</style>
</head>
<body>
<h1>Demo site</h1>
<p>This page comes from the origin behind Gatehouse.</p>
<form method="post" action="/echo/contact">
<p><label>Name <input name="name" autocomplete="name"></label></p>
<p><label>Message <input name="message"></label></p>
<p><button>Send</button></p>
</form>
<ul>
<li><a href="/echo/hello?from=page">The request as the origin sees it</a></li>
<li><a href="/api/time">A JSON path</a></li>
<li><a href="/widget">The widget, in every mode</a></li>
<li><a href="/sse">An event stream</a></li>
<li><a href="/hits">How often the origin was called</a></li>
</ul>
</body>
</html>
`;
