/**
 * The names in an environment report, kept apart from its schema: the page's script must not carry a schema library.
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
