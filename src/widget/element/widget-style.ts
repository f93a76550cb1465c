/**
 * Style of the widget, as a constructed style sheet: without inline styles it works under every `style-src`. Colours
 * meet WCAG 2.2 AA in both themes, and a page can replace each of them with a custom property.
 */

export const widgetStyle = `
:host{display:inline-block;max-width:100%;font:16px/1.4 system-ui,sans-serif;color-scheme:light;
--fg:var(--gatehouse-text,#1c2430);--bg:var(--gatehouse-background,#fff);--line:var(--gatehouse-border,#6b7685);
--go:var(--gatehouse-accent,#1a56c4);--ok:var(--gatehouse-success,#157347);--no:var(--gatehouse-error,#b3261e)}
:host([hidden]),[hidden]{display:none!important}
:host([data-shade=dark]){color-scheme:dark;--fg:var(--gatehouse-text,#eef1f5);--bg:var(--gatehouse-background,#1d2330);
--line:var(--gatehouse-border,#97a1b0);--go:var(--gatehouse-accent,#8ab4ff);--ok:var(--gatehouse-success,#5fd39b);--no:var(--gatehouse-error,#ffb4ab)}
.box{box-sizing:border-box;display:flex;gap:12px;align-items:center;width:300px;max-width:100%;min-height:64px;padding:12px 14px;
background:var(--bg);color:var(--fg);border:1px solid var(--line);border-radius:var(--gatehouse-radius,8px)}
:host([data-size=compact]) .box{width:164px}
:host([data-size=invisible]) .box{display:none}
:host([data-size=flexible]){display:block}
:host([data-size=flexible]) .box{width:100%}
button{all:unset;box-sizing:border-box;flex:none;position:relative;width:30px;height:30px;border:2px solid var(--line);border-radius:6px;
display:grid;place-items:center;cursor:pointer}
button:focus-visible{outline:3px solid var(--go);outline-offset:2px}
label{cursor:pointer;overflow-wrap:anywhere}
svg{width:20px;height:20px;fill:none;stroke:var(--ok);stroke-width:3;visibility:hidden}
circle{stroke:var(--go);stroke-dasharray:100;stroke-dashoffset:calc(100 - 100*var(--done,0))}
[data-state=working] button{border-color:transparent;cursor:default}
[data-state=working] .ring,[data-state=verified] .mark{visibility:visible}
.ring{position:absolute;inset:0;width:100%;height:100%;transform:rotate(-90deg)}
[data-state=verified] button{border-color:var(--ok)}
[data-state=failed] button{border-color:var(--no)}
[data-state=failed] label{color:var(--no)}
p{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.panel{margin-top:8px}
@media (prefers-reduced-motion:no-preference){circle{transition:stroke-dashoffset .12s linear}}
@media (forced-colors:active){button{border-color:ButtonText}svg{stroke:ButtonText}circle{stroke:Highlight}}
`;
