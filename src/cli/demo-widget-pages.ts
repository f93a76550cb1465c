/**
 * The demo site's widget pages, one per mode (`/widget/…`), each with a form that posts to `/echo/widget`. They have no
 * site key, because behind the gate the edge adds it, and no inline script, like a site with a strict CSP.
 */

interface Demo {
  title: string;
  /** Markup in the form, next to its field and button. */
  widget: string;
  language?: string;
  /** Query of the widget script, and a script element of the page. */
  params?: string;
  script?: string;
}

const demos: Readonly<Record<string, Demo>> = {
  checkbox: { title: 'Starts at the first touch of the form', widget: '<gatehouse-widget></gatehouse-widget>' },
  classic: {
    title: 'A classic div',
    widget: '<div class="gatehouse-captcha" data-sitekey="" data-start="click"></div>',
  },
  load: { title: 'Starts with the page', widget: '<gatehouse-widget start="load"></gatehouse-widget>' },
  submit: { title: 'Starts when the form is sent', widget: '<gatehouse-widget start="submit"></gatehouse-widget>' },
  invisible: { title: 'Not seen at all', widget: '<gatehouse-widget size="invisible"></gatehouse-widget>' },
  dark: { title: 'Dark and compact', widget: '<gatehouse-widget theme="dark" size="compact"></gatehouse-widget>' },
  arabic: { title: 'بالعربية', widget: '<gatehouse-widget></gatehouse-widget>', language: 'ar' },
  explicit: {
    title: 'Rendered by script',
    widget: '<div id="place"></div>',
    params: '?render=explicit&amp;onload=onGatehouse',
    script: '<script src="/widget/explicit.js" defer></script>',
  },
};

const explicitScript = `window.onGatehouse = () => {
  window.gatehouse.render('#place', { sitekey: '', start: 'load', callback: () => { document.title = 'Solved'; } });
};
`;

/** The page or script at a path below `/widget`, or `null`. */
export function demoWidgetFile(path: string): { type: string; body: string } | null {
  const name = path.slice('/widget/'.length);
  if (name === 'explicit.js') return { type: 'text/javascript; charset=utf-8', body: explicitScript };
  if (path === '/widget') return { type: 'text/html; charset=utf-8', body: indexPage() };
  const demo = Object.hasOwn(demos, name) ? demos[name] : undefined;
  return demo === undefined ? null : { type: 'text/html; charset=utf-8', body: page(demo) };
}

function indexPage(): string {
  const items = Object.entries(demos).map(([name, { title }]) => `<li><a href="/widget/${name}">${title}</a></li>`);
  return frame('Widget demos', 'en', `<ul>\n${items.join('\n')}\n</ul>`, '');
}

function page({ title, widget, language = 'en', params = '', script = '' }: Demo): string {
  const head = `${script}<script src="/__protect/widget.js${params}" defer></script>`;
  const form = `<form method="post" action="/echo/widget">
<p><label>Message <input name="message"></label></p>
<p>${widget}</p>
<p><button name="send" value="yes">Send</button></p>
</form>`;
  return frame(title, language, form, head);
}

function frame(title: string, language: string, body: string, head: string): string {
  return `<!doctype html>
<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${head}
</head>
<body>
<h1>${title}</h1>
${body}
</body>
</html>
`;
}
