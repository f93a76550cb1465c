/**
 * The pages that sessions are recorded on: an article, a form, a gallery, a page with a library that dispatches scroll
 * events, and a plain one. Each carries the real protect script, and tells the recorder where its elements and the
 * pointer are, because a hand that moves a real pointer must see where to move it.
 */
import * as z from 'zod/mini';

const point = z.tuple([z.number(), z.number()]);

/** What an eye would see of the page: boxes in CSS pixels, and how many screen pixels a CSS pixel is. */
export const sight = z.object({
  path: z.string(),
  pointer: z.nullable(point),
  boxes: z.record(z.string(), z.tuple([z.number(), z.number(), z.number(), z.number()])),
  scale: z.number(),
});
export type Sight = z.infer<typeof sight>;

const tellSight = `(() => {
  let pointer = null, timer = 0;
  const tell = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const boxes = {};
      for (const element of document.querySelectorAll('[id]')) {
        const { x, y, width, height } = element.getBoundingClientRect();
        boxes[element.id] = [x, y, width, height];
      }
      const body = JSON.stringify({ path: location.pathname, pointer, boxes, scale: devicePixelRatio });
      navigator.sendBeacon('/sight', new Blob([body], { type: 'application/json' }));
    }, 100);
  };
  for (const type of ['pointermove', 'pointerdown'])
    addEventListener(type, (event) => { pointer = [event.clientX, event.clientY]; tell(); });
  for (const type of ['load', 'scroll', 'resize']) addEventListener(type, tell);
})();`;

const text = (sentences: number): string => `<p>${'Some text to read, as long as texts are. '.repeat(sentences)}</p>`;
const links = `<p><a id="prices" href="/prices">Prices</a> <a id="article" href="/article">Article</a>
<a id="contact" href="/contact">Contact</a> <a id="next" href="/next">Next</a></p>`;

const bodies: Record<string, string> = {
  '/article': `${links}${text(900)}<p><a id="more" href="/contact">More</a></p>`,
  '/form': `${links}<form onsubmit="return false"><p><label>Name <input id="name"></label></p>
<p><label>Mail <input id="mail" type="email"></label></p><p><label>Password <input id="password" type="password"></label></p>
<p><label>Message <textarea id="message" rows="4"></textarea></label></p>
<p><label><input id="agree" type="checkbox"> I agree</label></p><p><button id="send">Send</button></p></form>${text(60)}`,
  '/gallery': `${links}<p id="shown">1</p><p><button id="forward" type="button"
onclick="shown.textContent = Number(shown.textContent) + 1">Forward</button></p>${text(60)}`,
  '/library': `${links}${text(300)}<script>setInterval(() => dispatchEvent(new Event('scroll')), 250);</script>`,
};

/** Unknown paths show the plain page. */
export function recordedPage(path: string): string {
  const plain = `${text(400)}${links}<p><label>Name <input id="name"></label>
<button id="send" type="button">Send</button></p>`;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${path}</title><style>p{line-height:1.6}input,button,a{font-size:18px}</style>
<script src="/__protect/protect.js" defer></script><script>${tellSight}</script><h1>${path.slice(1)}</h1>${bodies[path] ?? plain}`;
}
