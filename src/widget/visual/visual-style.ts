/**
 * Style of the picture tasks. Colours are inherited (`currentColor`), so that one sheet fits the widget, the dialog and
 * the challenge page in every theme.
 */
export const visualStyle = `
:host{display:block;max-width:328px;font:inherit;color:inherit}
*{box-sizing:border-box}
p{margin:0 0 10px}
p:focus{outline:none}
.shape{display:inline-block;width:1.6em;height:1.6em;vertical-align:middle;margin:0 .3em;fill:currentColor}
.wrong{font-weight:600}
.grid{display:grid;gap:6px;margin:0 0 12px}
button{font:inherit;color:inherit;background:none;border:2px solid;border-radius:8px;min-height:44px;padding:6px 14px;cursor:pointer}
button:focus-visible,input:focus-visible{outline:3px solid;outline-offset:2px}
.tile{position:relative;padding:0;border-color:transparent;line-height:0;min-height:0}
.tile canvas{width:100%;border-radius:6px}
.tile[aria-pressed=true]{border-color:currentColor}
.tile[aria-pressed=true] canvas{transform:scale(.86)}
.tile[aria-pressed=true]::after{content:"✓";position:absolute;inset-inline-end:4px;top:4px;width:26px;height:26px;border-radius:50%;background:#0b57d0;color:#fff;font:bold 18px/26px sans-serif}
.board{position:relative;margin:0 0 12px;touch-action:none;line-height:0;direction:ltr}
.board>canvas:first-child{width:100%;border-radius:8px}
.piece{position:absolute;cursor:grab;border-radius:50%;outline:2px solid #fff;box-shadow:0 0 0 4px #000}
.piece:focus-visible{outline:4px solid #0b57d0}
.piece:active{cursor:grabbing;opacity:.75}
.piece canvas{width:100%}
.row{display:flex;flex-wrap:wrap;gap:8px;margin:0 0 12px;align-items:center}
.go{background:#0b57d0;border-color:#0b57d0;color:#fff}
.other{border-color:transparent;text-decoration:underline}
input{font:inherit;width:8em;min-height:44px;padding:6px 10px;border:2px solid;border-radius:8px;color:inherit;background:none;letter-spacing:.3em}
label{display:block;margin:0 0 4px}
@media (prefers-reduced-motion:no-preference){.tile canvas{transition:transform .1s}}
@media (forced-colors:active){.tile[aria-pressed=true]{outline:4px solid Highlight}.go{border-color:ButtonText}}
`;
