/**
 * The style sheet of the gate's pages with an instance's colours. The service sends it to the edge with the config, so
 * that the edge neither carries nor computes it. Readable in light and dark, at 320 px, with forced colours and without
 * motion. It loads nothing.
 */
import type { Branding } from '../contract/management/instance-policy.ts';

const sheet = `
:root{color-scheme:light dark;--bg:#f4f6f9;--card:#fff;--fg:#1c2430;--soft:#4a5565;--line:#c5ccd6;--go:#1a56c4;--on-go:#fff}
*{box-sizing:border-box}
[hidden]{display:none!important}
body{margin:0;min-height:100vh;display:grid;place-items:start center;padding:max(16px,12vh) 16px 16px;background:var(--bg);color:var(--fg);font:17px/1.5 system-ui,sans-serif}
main{width:100%;max-width:30rem;padding:clamp(20px,6vw,40px);background:var(--card);border:1px solid var(--line);border-radius:14px}
img{display:block;max-width:200px;max-height:56px;margin:0 0 20px}
h1{margin:0 0 12px;font-size:1.45rem;line-height:1.25;overflow-wrap:anywhere}
p{margin:0 0 14px;overflow-wrap:anywhere}
.site{margin:0 0 8px;color:var(--soft);font-weight:600}
[role=status]{min-height:1.5em;font-weight:600}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
[data-visual]{font-size:16px;--no:#b3261e}
progress{width:100%;height:10px;margin:0 0 14px;accent-color:var(--go)}
button,.button{display:inline-block;min-height:44px;padding:10px 22px;margin:0 0 14px;border:0;border-radius:8px;background:var(--go);color:var(--on-go);font:inherit;font-weight:600;cursor:pointer;text-decoration:none}
button:focus-visible,a:focus-visible{outline:3px solid var(--fg);outline-offset:3px}
a{color:var(--go)}
footer{margin-top:20px;padding-top:14px;border-top:1px solid var(--line);color:var(--soft);font-size:.9rem}
footer:has(>[hidden]:only-child){border-color:transparent}
footer p{margin:0 0 6px}
footer strong{font:600 1em monospace;color:var(--fg);user-select:all}
.copy{min-height:28px;padding:2px 10px;margin:0;background:none;color:var(--go);border:1px solid var(--soft)}
code{font:.9em monospace;overflow-wrap:anywhere;user-select:all}
@media (forced-colors:active){button,.button{border:1px solid ButtonText}}
`.replaceAll('\n', '');

const dark =
  '@media (prefers-color-scheme:dark){:root{--bg:#11151d;--card:#1b212d;--fg:#eef1f5;--soft:#b6bfcc;--line:#3b4657;--go:#8ab4ff;--on-go:#0b1526}[data-visual]{--no:#ffb4ab}}';

const COLOUR = /^#[0-9a-fA-F]{6}$/;

/** The style sheet with the instance's colours. A colour that is not `#rrggbb` is left out. */
export function pageStyle({ primaryColor, backgroundColor, textColor }: Branding): string {
  const own: string[] = [];
  const set = (name: string, value: string | undefined): void => {
    if (value !== undefined && COLOUR.test(value)) own.push(`${name}:${value}`);
  };
  set('--go', primaryColor);
  set('--on-go', textOn(primaryColor));
  set('--bg', backgroundColor);
  set('--card', backgroundColor);
  const text = textColor ?? textOn(backgroundColor);
  set('--fg', text);
  set('--soft', text);
  // An instance with its own colours keeps them in dark mode: half a palette would be unreadable.
  return sheet + (own.length === 0 ? dark : `:root{${own.join(';')}}`);
}

/** Black or white, whichever contrasts more with the colour (WCAG 2.2 relative luminance). */
function textOn(colour: string | undefined): string | undefined {
  if (colour === undefined || !COLOUR.test(colour)) return undefined;
  const linear = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * linear[0]! + 0.7152 * linear[1]! + 0.0722 * linear[2]!;
  // Equal contrast to black and white: (L + 0.05)² = 1.05 · 0.05.
  return luminance > 0.179 ? '#000000' : '#ffffff';
}
