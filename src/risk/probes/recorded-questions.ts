/**
 * Questions that only a browser answers: how it reads and writes style declarations, addresses, matrices and values of
 * form fields, what its errors say, and which properties its interfaces have, in which order. Every browser of one version
 * answers them alike. `npm run record:risk -- probes` records the answers of real browsers. They hold for these questions
 * alone, so after a change of this file they are recorded again.
 */
import type { ProbeExpression } from '../../contract/edge/probes.ts';
import { Draw } from './draw.ts';
import { call, construct, get, realm } from './expressions.ts';

/** Of each kind of question. */
const VARIANTS = 12;

const made = (name: string): ProbeExpression => call(realm('document'), 'createElement', name);
/** How the browser writes a declaration that it has read. Empty where it does not understand it. */
const css = (declaration: string): ProbeExpression =>
  get(['set', get(made('p'), 'style'), 'cssText', declaration], 'cssText');
const field = (type: string, value: string): ProbeExpression =>
  get(['set', ['set', made('input'), 'type', type], 'value', value], 'value');
const fails = (expression: ProbeExpression): ProbeExpression => ['error', expression];

/** Declarations with `#` for a small number, `%` for a share, `~` for a colour and `=` for a name. */
const declarations = `
color: rgb(# # # / %)|color: hsl(#deg % % / 0.#)|color: hwb(# % %)|color: lab(% # -#)|color: oklch(0.# 0.1# #)
color: color-mix(in srgb, ~ %, ~)|color: color-mix(in oklch longer hue, ~, ~ %)|color: color(display-p3 0.# 0.# 0.#)
color: rgb(from ~ r calc(g + #) b)|color: oklch(from ~ calc(l * 0.#) c h)|color: light-dark(~, ~)|color: contrast-color(~)
background: url(=) #px #px / #% no-repeat ~|background: linear-gradient(#deg, ~, % , ~)|background-position: right #px top %
background: conic-gradient(from #deg at % %, ~, ~)|background: linear-gradient(in oklch, ~, ~)|background-repeat: repeat no-repeat
background: image-set("=" 1x, "=" #x)|background: cross-fade(url(=), url(=) %)|background-clip: border-area|mask: url(=) #px %
width: calc(#px + % - #em * 2)|width: min(#px, %, #rem)|width: clamp(#px, #vw, #px)|width: round(up, #px, #px)|width: mod(#px, #px)
width: calc(sin(#deg) * #px)|width: calc(pow(2, #) * 1px)|width: hypot(#px, #px)|width: abs(-#px)|width: calc(sign(#) * #px)
width: fit-content(#px)|width: stretch|width: calc-size(auto, size + #px)|width: anchor-size(--= width, #px)|height: #dvh|height: #cqi
width: if(style(--=: #): #px; else: #px)|width: calc(sibling-index() * #px)|width: attr(data-= px, #px)|width: random(#px, #px)
margin: #px auto #px|margin-inline: #px %|inset: #px % #px|padding-block: #px|border: #px dashed ~|border-image: url(=) # fill / #px
border-radius: #px % / #px|border-block-end: #px solid ~|outline: ~ dotted #px|box-shadow: inset #px #px #px ~, #px #px ~
corner-shape: squircle|corner-shape: superellipse(#)|border-shape: circle(#px)|box-decoration-break: clone
transform: rotate(#deg) translate(#px, %) scale(0.#)|rotate: x #deg|scale: # #|translate: #px % #px|transform-box: stroke-box
transform: matrix3d(1,0,0,0,0,1,0,0,0,0,1,0,#,#,0,1)|perspective: #px|offset: path("M#,#L#,#") #px|offset-path: ray(#deg closest-side)
grid-template: "= =" #px / 1fr #fr|grid-area: # / span # / = / auto|grid: auto-flow / #px|grid-template-columns: repeat(auto-fill, minmax(#px, 1fr))
grid-template-columns: subgrid [=]|grid-template-rows: masonry|display: grid-lanes|display: inline flow-root|display: ruby base|display: math
flex: # # %|flex-flow: wrap column|place-content: safe center / end|gap: #px %|align-items: anchor-center|justify-self: first baseline
columns: # #px|column-rule: #px dotted ~|row-rule: #px solid ~|rule: #px solid ~|column-height: #px|column-wrap: wrap|break-inside: avoid-column
font: italic small-caps # #px/#px "=", serif|font-variant: small-caps tabular-nums|font-feature-settings: "=a" #|font-size-adjust: ex-height 0.#
font-palette: palette-mix(in oklch, normal %, --=)|font-style: oblique #deg|font-synthesis: weight|font-variation-settings: "wght" #
font-variant-emoji: text|font-language-override: "ENG"|font-width: %|line-height: 0.#|letter-spacing: %|word-spacing: %|tab-size: #px
text-decoration: underline wavy ~ #px|text-underline-offset: %|text-emphasis: filled "x" ~|text-wrap: pretty|text-wrap: stable nowrap
text-box: trim-both cap alphabetic|text-spacing-trim: trim-start|text-autospace: no-autospace|text-indent: #px hanging|hanging-punctuation: first
text-shadow: #px #px ~|white-space: pre-line|white-space: break-spaces nowrap|word-break: auto-phrase|hyphenate-limit-chars: # # #|line-clamp: #
text-fit: grow|text-justify: inter-character|text-group-align: left|line-break: anywhere|hyphenate-character: "="|quotes: "=" "="
animation: =# #s ease-in #s infinite alternate|animation-timing-function: linear(0, 0.# %, 1)|animation-timing-function: steps(#, jump-both)
animation-range: entry % exit|animation-composition: accumulate|animation-timeline: view(inline #px)|animation-trigger: --= play|timeline-trigger: --= view()
transition: = #ms cubic-bezier(0.#, 0, 1, #)|transition-behavior: allow-discrete|view-transition-name: =|view-transition-class: = =|scroll-timeline: --= x
filter: blur(#px) drop-shadow(#px #px ~)|backdrop-filter: hue-rotate(#deg)|clip-path: inset(#px round #px)|clip-path: polygon(% %, #px #px, 0 %)
clip-path: shape(from #px #px, line to % %)|clip-path: xywh(#px # #px #px)|clip-path: rect(#px auto % 0)|shape-outside: ellipse(#px %)|object-view-box: inset(#px)
container: = / inline-size|container-type: scroll-state|contain-intrinsic-size: auto #px|content-visibility: auto|will-change: =, transform
position-anchor: --=|position-area: top span-left|position-try: flip-block, --=|top: anchor(--= bottom, #px)|anchor-scope: --=|position-visibility: anchors-visible
overflow: clip auto|overflow-clip-margin: content-box #px|overscroll-behavior: contain none|scroll-snap-type: x mandatory|scroll-margin: #px #px
scroll-marker-group: before|scroll-initial-target: nearest|scroll-target-group: auto|scrollbar-gutter: stable both-edges|scrollbar-color: ~ ~|overflow-block: clip
list-style: square inside|counter-reset: = # reversed(=)|counter-set: = #|content: "=" / "="|content: counter(=, upper-roman)|interactivity: inert
caret: ~ bar|caret-animation: manual|caret-shape: block|accent-color: ~|appearance: base-select|field-sizing: content|interpolate-size: allow-keywords|zoom: %
aspect-ratio: auto # / #|object-position: right #px bottom|image-rendering: crisp-edges|image-orientation: #deg|dynamic-range-limit: constrained|print-color-adjust: exact
math-depth: add(#)|math-shift: compact|math-style: compact|ruby-align: center|ruby-overhang: none|initial-letter: # #|initial-letter-align: border-box
d: path("M # # H #")|r: %|x: calc(#px + %)|fill: url(#=) ~|stroke-dasharray: #, #px %|paint-order: stroke markers|vector-effect: non-scaling-stroke|glyph-orientation-vertical: 90
all: revert-layer|--=:  # px |reading-flow: flex-visual|reading-order: #|speak: never|user-select: contain|touch-action: pan-left pan-y|resize: inline|orphans: #
-webkit-box-reflect: below #px|-webkit-text-stroke: #px ~|-webkit-mask-box-image: url(=) #|-webkit-line-clamp: #|-moz-user-focus: normal|-webkit-user-drag: element
overlay: auto|margin-trim: block|block-step: #px|float: inline-start|cursor: url(=) # #, pointer|baseline-shift: #px|alignment-baseline: middle|isolation: isolate
`;

const colours = ['red', '#abc', '#12345678', 'rebeccapurple', 'transparent', 'CurrentColor', 'rgb(1,2,3)'];

function filled(pattern: string, draw: Draw): string {
  const values: Readonly<Record<string, () => string>> = {
    '#': () => String(draw.number(1, 99)),
    '%': () => `${draw.number(1, 99)}%`,
    '~': () => draw.of(colours),
    '=': () => draw.word(4),
  };
  return pattern.replaceAll(/[#%~=]/g, (sign) => values[sign]!());
}

const interfaces = [
  'DOMRectReadOnly',
  'DOMRect',
  'DOMPoint',
  'DOMQuad',
  'TreeWalker',
  'NodeIterator',
  'StaticRange',
  'AbstractRange',
  'DOMTokenList',
  'NamedNodeMap',
  'Attr',
  'CharacterData',
  'Text',
  'MediaList',
  'StyleSheet',
  'CSSRule',
  'CSSRuleList',
  'FormData',
  'URLSearchParams',
  'Headers',
  'AbortController',
  'MessageChannel',
  'MutationRecord',
  'HTMLCollection',
  'HTMLTimeElement',
  'HTMLTableRowElement',
  'HTMLOListElement',
  'HTMLProgressElement',
  'HTMLMeterElement',
  'XPathResult',
];

/** Kinds of questions about other interfaces. */
const kinds: readonly ((draw: Draw) => ProbeExpression)[] = [
  (draw) => call(construct('DOMMatrix', filled('rotate(#deg) scale(0.#) translate(#px, #px)', draw)), 'toString'),
  (draw) =>
    get(
      construct('URL', `http://${draw.word()}.${draw.word(2)}:0${draw.number(1, 99)}/./%7e ${draw.word()}?a="'#ü<`),
      'href',
    ),
  (draw) => get(construct('URL', `../${draw.word()}/.%2e/\\x|`, `ws://u:p@${draw.word()}:80/a/b/c;d`), 'href'),
  (draw) => fails(construct('URL', `http://${draw.word()}:99999`)),
  (draw) => fails(call(realm('document'), 'querySelector', `${draw.word()}[${draw.word()}`)),
  (draw) => fails(call(realm('document'), 'createElement', `${draw.number(1, 99)}${draw.word()}`)),
  (draw) => fails(call(made('p'), 'insertAdjacentElement', draw.word(), made('b'))),
  (draw) => fails(call(realm('globalThis'), 'atob', `${draw.word()}!`)),
  (draw) => fails(construct('TextDecoder', draw.word())),
  (draw) => fails(call(get(made('p'), 'classList'), 'add', `${draw.word()} `)),
  () => fails(construct('Event')),
  (draw) => fails(call(construct('Headers'), 'append', `${draw.word()} `, 'x')),
  (draw) => fails(call(made(draw.of(['img', 'input', 'a', 'h1', 'td'])), 'attachShadow', draw.number(1, 9))),
  (draw) => fails(call(made('p'), 'appendChild', draw.number(1, 99))),
  () => fails(['set', made('table'), 'tHead', made('p')]),
  (draw) => fails(call(['set', made('input'), 'type', 'text'], 'stepUp', draw.number(1, 99))),
  (draw) => field('color', filled('#12#4f', draw)),
  (draw) => field('number', `${draw.number(1, 99)}.${draw.number(1, 99)}e${draw.number(1, 9)}`),
  (draw) => field('time', `0${draw.number(1, 9)}:${draw.number(10, 70)}:1`),
  (draw) => field('range', String(draw.number(-50, 150))),
  (draw) => field('email', ` ${draw.word()}@${draw.word()} `),
  (draw) => call(construct('Option', `<${draw.word()}&`, `"${draw.word()}'>`), 'getHTML'),
  (draw) => get(construct('Option', `<${draw.word()}&\u00a0`, `"${draw.word()}'<>`), 'outerHTML'),
  (draw) => call(construct('URLSearchParams', `${draw.word()}=%zz+${draw.word()}&&=é`), 'toString'),
  (draw) => construct('Uint8Array', get(call(construct('TextEncoder'), 'encode', draw.word(4, 'aé€ü')), 'buffer')),
  (draw) => call(realm('CSS'), 'escape', `${draw.number(1, 9)}${draw.word()} .:`),
  (draw) => call(realm('CSS'), 'supports', filled(draw.of(supported), draw)),
];
const supported = [
  'selector(:has(> a))',
  'selector(a:is(b,))',
  'selector(::details-content)',
  'selector(:open)',
  'selector(::picker(select))',
  'selector(:state(=))',
  'selector(::highlight(=))',
  'selector(:active-view-transition)',
  'selector(::scroll-button(left))',
  'selector(:nth-child(#n of p))',
  'selector(::checkmark)',
  'selector(:muted)',
  'selector(:has-slotted)',
  'selector(:target-current)',
  'selector(:heading(#))',
  'selector(::search-text)',
  'selector(:interest-source)',
  'selector(:xr-overlay)',
  'selector(::-moz-range-track)',
  'font-tech(color-COLRv1)',
  'font-format(woff2)',
  'at-rule(@function)',
  'selector(:autofill)',
  'selector(:popover-open)',
  'named-feature(=)',
];

function variantsOf(place: number, make: (draw: Draw) => ProbeExpression): ProbeExpression[] {
  const draw = new Draw(place);
  const variants = draw.list(VARIANTS, () => make(draw));
  // Without a parameter they are all the same.
  return [...new Map(variants.map((variant) => [JSON.stringify(variant), variant])).values()];
}

function allQuestions(): ProbeExpression[] {
  const patterns = declarations.trim().split(/[|\n]/);
  const styles = patterns.map((pattern) => (draw: Draw) => css(filled(pattern, draw)));
  const shapes = interfaces.map((name) => call(realm('Object'), 'getOwnPropertyNames', get(realm(name), 'prototype')));
  return [...[...styles, ...kinds].flatMap((make, place) => variantsOf(place, make)), ...shapes];
}

/** By their place. Made when they are first needed. */
let questions: readonly ProbeExpression[] | undefined;
export function recordedQuestions(): readonly ProbeExpression[] {
  return (questions ??= allQuestions());
}
