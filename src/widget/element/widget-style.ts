/**
 * Style of the widget, as a constructed style sheet: without inline styles it works under every `style-src`. Colours
 * meet WCAG 2.2 AA in both themes, and a page can replace each of them with a custom property.
 */

export const widgetStyle = `
:host{display:inline-block;vertical-align:top;max-width:100%;font:16px/1.4 system-ui,sans-serif;color-scheme:light;
--fg:var(--gatehouse-text,#1c2430);--bg:var(--gatehouse-background,#fff);--line:var(--gatehouse-border,#6b7685);
--go:var(--gatehouse-accent,#1a56c4);--on-go:var(--gatehouse-accent-text,#fff);--ok:var(--gatehouse-success,#157347);--no:var(--gatehouse-error,#b3261e)}
:host([hidden]),[hidden]{display:none!important}
:host([data-shade=dark]){color-scheme:dark;--fg:var(--gatehouse-text,#eef1f5);--bg:var(--gatehouse-background,#1d2330);
--line:var(--gatehouse-border,#97a1b0);--go:var(--gatehouse-accent,#8ab4ff);--on-go:var(--gatehouse-accent-text,#0b1526);--ok:var(--gatehouse-success,#5fd39b);--no:var(--gatehouse-error,#ffb4ab)}
.box{box-sizing:border-box;display:flex;gap:12px;align-items:center;width:300px;max-width:100%;min-height:72px;padding:12px 14px;
background:var(--bg);color:var(--fg);border:1px solid var(--line);border-radius:var(--gatehouse-radius,8px)}
:host([data-size=compact]) .box{width:164px}
:host([data-size=invisible]) .box{display:none}
:host([data-size=flexible]){display:block}
:host([data-size=flexible]) .box{width:100%}
.box button{all:unset;box-sizing:border-box;flex:none;position:relative;width:30px;height:30px;border:2px solid var(--line);border-radius:6px;
display:grid;place-items:center;cursor:pointer}
.box button::after{content:"";position:absolute;inset:-9px}
.box button:focus-visible{outline:3px solid var(--go);outline-offset:2px}
label{cursor:pointer;overflow-wrap:anywhere}
.box svg{width:20px;height:20px;fill:none;stroke:var(--ok);stroke-width:3;visibility:hidden}
circle{stroke:var(--go);stroke-dasharray:100;stroke-linecap:round;stroke-dashoffset:calc(100 - 100*max(.08,var(--done,0)))}
.box[data-state=working] button{border-radius:50%;border-color:color-mix(in srgb,var(--line) 40%,transparent);cursor:default}
.box[data-state=unavailable] button{border-style:dashed}
[data-state=working] .ring,[data-state=verified] .mark{visibility:visible}
.box .ring{position:absolute;inset:-2px;width:auto;height:auto;transform:rotate(-90deg)}
.box[data-state=verified] button{border-color:var(--ok)}
.box[data-state=waiting] button{border-color:var(--go)}
.box[data-state=failed] button{border-color:var(--no)}
.box[data-state=failed] label{color:var(--no)}
.live{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media (prefers-reduced-motion:no-preference){circle{transition:stroke-dashoffset .12s linear}
[data-state=working] .ring{animation:turn 1.4s linear infinite}@keyframes turn{to{transform:rotate(270deg)}}}
@media (forced-colors:active){.box button{border-color:ButtonText}.box svg{stroke:ButtonText}.box circle{stroke:Highlight}}
`;
