/**
 * Style of the task dialog. It has the colours of the widget around it (`--bg`, `--fg`, `--line`, `--go`, `--no`), or
 * colours of its own where a theme is set.
 */
const light = '--bg:#fff;--fg:#1c2430;--line:#6b7685;--go:#1a56c4;--on-go:#fff;--no:#b3261e';
const dark = '--bg:#1d2330;--fg:#eef1f5;--line:#97a1b0;--go:#8ab4ff;--on-go:#0b1526;--no:#ffb4ab';

export const taskDialogStyle = `
:host([data-theme]){color-scheme:light;${light}}
:host([data-theme=dark]){color-scheme:dark;${dark}}
@media (prefers-color-scheme:dark){:host([data-theme=auto]){color-scheme:dark;${dark}}}
dialog{box-sizing:border-box;width:min(400px,100vw - 16px);max-width:none;max-height:calc(100vh - 16px);max-height:calc(100dvh - 16px);margin:auto;padding:0 16px 16px;overflow:auto;overscroll-behavior:contain;
font:16px/1.45 system-ui,sans-serif;text-align:start;background:var(--bg);color:var(--fg);border:1px solid var(--line);border-radius:var(--gatehouse-radius,12px);box-shadow:0 12px 40px #0005}
h2:focus{outline:none}
dialog::backdrop{background:#0009}
[data-place=box]{margin:0;inset:auto}
[data-place=box]::backdrop{background:#0003}
[hidden]{display:none!important}
.head{position:sticky;top:0;z-index:1;display:flex;align-items:center;gap:8px;min-height:52px;margin-inline:-16px;padding-inline:16px 4px;background:var(--bg)}
h2{flex:1;margin:0;font-size:1em;font-weight:600;overflow-wrap:anywhere}
button{box-sizing:border-box;min-width:44px;min-height:44px;padding:0 20px;font:inherit;font-weight:600;color:inherit;background:none;border:2px solid;border-radius:8px;cursor:pointer}
button:focus-visible{outline:3px solid var(--go);outline-offset:2px}
.closer{display:grid;place-items:center;padding:0;border-color:transparent}
.closer:focus-visible{outline-offset:-4px}
.closer:hover{background:color-mix(in srgb,currentColor 8%,transparent)}
svg{width:20px;height:20px;fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round}
#status{margin:0 0 16px;overflow-wrap:anywhere}
#status.unseen{position:absolute;width:1px;height:1px;margin:0;overflow:hidden;clip-path:inset(50%)}
[data-state=error] #status{color:var(--no);font-weight:600}
progress{display:block;width:100%;height:8px;margin:0 0 4px;accent-color:var(--go)}
.retry{background:var(--go);border-color:var(--go);color:var(--on-go)}
@media (prefers-reduced-motion:no-preference){dialog[open]{animation:appear .14s ease-out}@keyframes appear{from{opacity:0;translate:0 6px}}}
@media (forced-colors:active){button{border-color:ButtonText}.retry{background:ButtonFace;color:ButtonText}}
`;
