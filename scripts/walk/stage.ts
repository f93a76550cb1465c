/** The stage of the walk: one picture of a browser's window or a terminal, with a line below that says what happens. */
import { html, raw } from 'hono/html';
import { type Html, htmlText } from '../../src/edge/answer/pages/page-layout.ts';

export const STAGE = { width: 960, height: 640 };
/** Of the window inside the stage. */
export const SCREEN = { width: 960, height: 548 };

const style = raw(`<style>
*{box-sizing:border-box}
body{margin:0;width:960px;height:640px;background:#0e1420;color:#eef1f5;font:15px/1.5 system-ui,sans-serif;overflow:hidden}
.bar{display:flex;align-items:center;gap:7px;height:36px;padding:0 14px;background:#1b2333}
.bar i{width:11px;height:11px;border-radius:50%;background:#3d485e}
.bar span{flex:1;margin-inline-start:10px;padding:3px 14px;border-radius:99px;background:#0e1420;color:#b9c3d2;font-size:13px}
img{display:block;width:960px;height:548px}
pre{margin:0;height:548px;padding:22px 26px;background:#0b101a;color:#d7dee9;font:14px/1.55 ui-monospace,Menlo,monospace;white-space:pre-wrap;overflow:hidden;overflow-wrap:anywhere}
pre b{color:#8fd3ff}
.say{display:flex;align-items:center;gap:14px;height:56px;padding:0 18px;background:#1a56c4;color:#fff;font-weight:600;font-size:17px}
.say em{font-style:normal;opacity:.85;font-variant-numeric:tabular-nums}
</style>`);

export interface Scene {
  /** In the address bar, or the name of the terminal. */
  address: string;
  content: { picture: string } | { command: string; output: string };
  says: string;
  step: number;
  steps: number;
}

export function stage({ address, content, says, step, steps }: Scene): string {
  const inside: Html =
    'picture' in content
      ? html`<img src="${content.picture}" alt="" />`
      : html`<pre><b>$ ${content.command}</b>
${content.output}</pre>`;
  const written = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        ${style}
      </head>
      <body>
        <div class="bar"><i></i><i></i><i></i><span>${address}</span></div>
        ${inside}
        <div class="say"><em>${step}/${steps}</em><span>${says}</span></div>
      </body>
    </html>`;
  return htmlText(written);
}
