/**
 * Names and bounds in what a page reports, kept apart from the schemas: the page's script must not carry a schema library.
 */

/** Which engine runs the script, by the shape of its errors and functions. */
export const scriptEngines = ['v8', 'gecko', 'jsc', 'other'] as const;
export type ScriptEngine = (typeof scriptEngines)[number];

/**
 * What only one family of browsers has. `chrome-object`, `hints`: `window.chrome` and `navigator.userAgentData`;
 * `chromium-css`, `gecko-css`, `webkit-css`: a property that only this family's style sheets know; `gecko-screen`:
 * `window.mozInnerScreenX`.
 */
export const familyMarks = [
  'chrome-object',
  'hints',
  'chromium-css',
  'gecko-css',
  'gecko-screen',
  'webkit-css',
] as const;
export type FamilyMark = (typeof familyMarks)[number];

/** Functions of the language, oldest first: which of them exist tells the engine's version. The order is the wire format. */
export const languageFeatures = [
  'findLast',
  'toSorted',
  'fromAsync',
  'union',
  'Iterator',
  'try',
  'escape',
  'fromBase64',
  'Temporal',
] as const;

/** The system that `navigator.platform` names. */
export const pageSystems = ['windows', 'apple', 'linux', 'other'] as const;
export type PageSystem = (typeof pageSystems)[number];

/** What draws in a worker. `hidden`: the browser does not say. */
export const renderers = [
  'direct3d',
  'metal',
  'opengl',
  'vulkan',
  'swiftshader',
  'llvmpipe',
  'hidden',
  'other',
] as const;
export type Renderer = (typeof renderers)[number];

/**
 * What a comparison within the browser found. `worker-…`, `frame`: a worker, or an empty frame, sees another browser than
 * the page does. `proxied-native`, `false-getter`, `false-plugins`: built-in objects that were replaced.
 * `full-version`: the long list of versions names another browser than the short one. `permission`: two ways to ask for
 * the same permission give different answers. `beyond-screen`, `false-orientation`: a window that no screen can show.
 * `no-bars`, `smallest-screen`, `no-scrollbars`, `no-pointer`: as in a browser without a window.
 */
export const environmentSigns = [
  'worker-agent',
  'worker-platform',
  'worker-languages',
  'worker-cores',
  'worker-zone',
  'frame',
  'proxied-native',
  'false-getter',
  'false-plugins',
  'full-version',
  'permission',
  'beyond-screen',
  'false-orientation',
  'no-bars',
  'smallest-screen',
  'no-scrollbars',
  'no-pointer',
] as const;
export type EnvironmentSign = (typeof environmentSigns)[number];

/** Far above what a person does in one page view. */
export const TELEMETRY_COUNT_MAX = 100_000;
/** A day: people leave pages open. */
export const TELEMETRY_ELAPSED_MAX_MS = 86_400_000;

/**
 * Signs of a driven browser. `webdriver`: the browser says so. `automation-global`: a driver left its objects.
 * `headless-agent`: the user agent names a headless build. `no-languages`, `zero-window`: something that a person's
 * browser always has is missing. `patched-webdriver`: the property was changed or removed. `brands-mismatch`: the user agent and the browser's list of brands
 * differ. `no-chrome-object`, `no-plugins`: something that Chrome with a window has is missing. `cdp-pointer`: pointer
 * events at a place on the screen that the window's frame makes impossible, or pressed without pressure, as the debugging
 * protocol sends them. `debugger`: that protocol listens to the page; `developer-tools`: the same, beside a panel in the
 * window. `instant-presses`: mouse buttons were released at once.
 */
export const telemetryTraits = [
  'webdriver',
  'automation-global',
  'headless-agent',
  'no-languages',
  'zero-window',
  'patched-webdriver',
  'brands-mismatch',
  'no-chrome-object',
  'no-plugins',
  'cdp-pointer',
  'debugger',
  'developer-tools',
  'instant-presses',
] as const;
export type TelemetryTrait = (typeof telemetryTraits)[number];

/** Answers to the questions of one challenge, and the length of each. */
export const ANSWERS_MAX = 24;
export const ANSWER_MAX_CHARS = 8;
