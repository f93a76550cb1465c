/**
 * Style of the tasks. Colours are inherited: `currentColor`, and the custom properties of the widget, the dialog or the
 * challenge page around the task. One sheet therefore fits them all, in every theme.
 */
export const visualStyle = `
:host{display:block;position:relative;max-width:400px;font:inherit;color:inherit;text-align:start;overflow-wrap:anywhere}
*{box-sizing:border-box}
p{margin:0 0 12px}
p:focus{outline:none}
.shape{display:inline-block;width:1.5em;height:1.5em;vertical-align:middle;margin-inline:0 .25em;fill:currentColor}
.wanted{white-space:nowrap}
.wrong{display:block;margin:0 0 8px;padding:6px 10px;border-inline-start:4px solid var(--no,currentColor);border-radius:4px;background:color-mix(in srgb,currentColor 7%,transparent);font-weight:600}
.wrong:empty{display:none}
.grid{display:grid;gap:4px;margin:0 0 12px}
button,input{font:inherit;color:inherit;background:none;border:2px solid;border-radius:8px;min-height:44px;padding:6px 14px}
button{cursor:pointer}
:is(button,input,summary,a):focus-visible{outline:3px solid var(--go,currentColor);outline-offset:2px}
.tile{position:relative;padding:0;border-color:transparent;line-height:0;min-height:0;border-radius:10px}
.tile canvas{width:100%;border-radius:6px}
.tile[aria-pressed=true]{border-color:currentColor}
.tile[aria-pressed=true] canvas{transform:scale(.88)}
.tile[aria-pressed=true]::after{content:"✓";position:absolute;inset-inline-end:4px;top:4px;width:26px;height:26px;border-radius:50%;background:#0b57d0;color:#fff;font:bold 17px/26px sans-serif;box-shadow:0 0 0 2px #fff}
.board{position:relative;margin:0 0 12px;touch-action:none;line-height:0;direction:ltr}
.board>canvas:first-child{width:100%;border-radius:8px}
.piece{position:absolute;cursor:grab;border-radius:50%;outline:2px solid #fff;box-shadow:0 0 0 4px #000}
.piece:focus-visible{outline:4px solid #0b57d0}
.piece:active{cursor:grabbing;opacity:.75}
.piece canvas{width:100%}
.row{display:flex;flex-wrap:wrap;gap:8px;margin:0 0 12px;align-items:center}
input{width:8em;border-color:var(--line,currentColor);letter-spacing:.3em}
input[aria-invalid=true]{border-color:var(--no,currentColor)}
label{display:block;margin:0 0 4px}
.go{display:block;width:100%;background:var(--go,#0b57d0);border-color:var(--go,#0b57d0);color:var(--on-go,#fff);font-weight:600}
.choices{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 4px;margin:6px -8px 0}
.choice{display:inline-flex;align-items:center;gap:6px;padding:4px 6px;border-color:transparent;font-size:.85em;text-align:start}
.choice:hover{background:color-mix(in srgb,currentColor 8%,transparent)}
.go:hover{filter:brightness(1.08)}
summary:hover,a:hover{text-decoration-style:solid}
.icon{flex:none;width:20px;height:20px;fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
.foot{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 16px;margin:6px 0 -12px;padding:2px 0 0;border-top:1px solid color-mix(in srgb,currentColor 18%,transparent);font-size:.875em}
details{flex:1 1 auto}
details[open]{flex-basis:100%}
summary,a{display:flex;align-items:center;min-height:44px;border-radius:8px;color:inherit;cursor:pointer}
summary{list-style:none;text-decoration:underline dotted;text-underline-offset:4px}
summary::-webkit-details-marker{display:none}
details p{margin:0;padding:0 0 12px}
:host([aria-busy=true]) form{opacity:.45;pointer-events:none}
:host([aria-busy=true])::before{content:"";position:absolute;inset:-8px 0 auto;height:4px;border-radius:2px;background:var(--go,currentColor);transform:scaleX(max(.06,var(--done,0)));transform-origin:left}
:host([aria-busy=true]:dir(rtl))::before{transform-origin:right}
@media (prefers-reduced-motion:no-preference){.tile canvas{transition:transform .1s}:host([aria-busy=true])::before{transition:transform .12s linear}}
@media (forced-colors:active){.tile[aria-pressed=true]{outline:4px solid Highlight}.tile[aria-pressed=true]::after{forced-color-adjust:none;background:Highlight;color:HighlightText}button{border-color:ButtonText}.go{background:ButtonFace;color:ButtonText}.choices{gap:6px;margin-inline:0}:host([aria-busy=true])::before{background:Highlight}}
`;
