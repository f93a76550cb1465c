/**
 * The demo site's widget pages, one per mode (`/widget/…`), each with a form that posts to `/echo/widget`. They have no
 * site key, because behind the gate the edge adds it, and no inline script, like a site with a strict CSP.
 */
import { html, raw } from 'hono/html';
import type { Html } from '../../edge/answer/pages/page-layout.ts';
import { page } from './page.ts';
import type { Visit } from './visit.ts';

interface Mode {
  title: string;
  about: string;
  /** Markup in the form, next to its field and button. */
  widget: string;
  language?: string;
  /** Query of the widget script, and a script element of the page. */
  params?: string;
  script?: Html;
}

const modes: Readonly<Record<string, Mode>> = {
  checkbox: {
    title: 'Starts at the first touch of the form',
    about: 'The default. It works while the visitor types.',
    widget: '<gatehouse-widget></gatehouse-widget>',
  },
  classic: {
    title: 'A classic div',
    about: 'For pages that were written for another product. It starts on a click.',
    widget: '<div class="gatehouse-captcha" data-sitekey="" data-start="click"></div>',
  },
  load: {
    title: 'Starts with the page',
    about: 'The token is there before the form is filled in.',
    widget: '<gatehouse-widget start="load"></gatehouse-widget>',
  },
  submit: {
    title: 'Starts when the form is sent',
    about: 'Work is done only for those who send.',
    widget: '<gatehouse-widget start="submit"></gatehouse-widget>',
  },
  invisible: {
    title: 'Not seen at all',
    about: 'It shows itself only for a task or a failure.',
    widget: '<gatehouse-widget size="invisible"></gatehouse-widget>',
  },
  dark: {
    title: 'Dark and compact',
    about: 'A theme and a size of its own.',
    widget: '<gatehouse-widget theme="dark" size="compact"></gatehouse-widget>',
  },
  arabic: {
    title: 'بالعربية',
    about: 'From right to left, in the language of the page.',
    widget: '<gatehouse-widget></gatehouse-widget>',
    language: 'ar',
  },
  explicit: {
    title: 'Rendered by script',
    about: 'The page says where and when.',
    widget: '<div id="place"></div>',
    params: '?render=explicit&onload=onGatehouse',
    script: html`<script src="/widget/explicit.js" defer></script>`,
  },
};

const explicitScript = `window.onGatehouse = () => {
  window.gatehouse.render('#place', { sitekey: '', start: 'load', callback: () => { document.title = 'Solved'; } });
};
`;

/** The page or script at a path below `/widget`, or `null`. */
export function widgetFile(visit: Visit): { type: string; body: string } | null {
  const name = visit.path.slice('/widget/'.length);
  if (name === 'explicit.js') return { type: 'text/javascript; charset=utf-8', body: explicitScript };
  if (visit.path === '/widget') return { type: 'text/html; charset=utf-8', body: overview(visit) };
  const mode = Object.hasOwn(modes, name) ? modes[name] : undefined;
  return mode === undefined ? null : { type: 'text/html; charset=utf-8', body: modePage(visit, mode) };
}

function overview(visit: Visit): string {
  const items = Object.entries(modes).map(
    ([name, { title, about, language = 'en' }]) =>
      html`<li class="card client">
        <h2><a href="/widget/${name}" lang="${language}">${title}</a></h2>
        <p>${about}</p>
        <pre tabindex="0" dir="ltr">${modes[name]?.widget ?? ''}</pre>
      </li> `,
  );
  return page(visit, {
    title: 'Widget',
    body: html`<div class="stack">
        <h1>The widget, in every mode</h1>
        <p>Each page has one form. Sending it shows the request as the shop got it, with the token.</p>
      </div>
      <ul class="clients">
        ${items}
      </ul>`,
  });
}

function modePage(visit: Visit, { title, about, widget, language = 'en', params = '', script }: Mode): string {
  const head = html`${script ?? null}
    <script src="/__protect/widget.js${params}" defer></script>`;
  return page(visit, {
    title,
    language,
    head,
    body: html`<form class="panel narrow" method="post" action="/echo/widget">
        <h1>${title}</h1>
        <p class="soft" lang="en" dir="ltr">${about}</p>
        <label>Message <input name="message" /></label>
        <div>${raw(widget)}</div>
        <p><button name="send" value="yes">Send</button></p>
      </form>
      <p lang="en" dir="ltr"><a href="/widget">Every mode</a></p>`,
  });
}
