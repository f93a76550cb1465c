/**
 * Finds built-in objects that a script replaced to disguise the browser. Only those are examined that sites have no
 * reason to replace. What is tried leaves them as they were.
 */
import type { EnvironmentSign } from '../../contract/edge/page-report-names.ts';
import type { Realm } from '../dom/fresh-realm.ts';
import { namesFound } from '../protect/automation-traits.ts';

type Callable = (...args: never[]) => unknown;

const NAVIGATOR_GETTERS = [
  'webdriver',
  'userAgent',
  'platform',
  'vendor',
  'languages',
  'plugins',
  'mimeTypes',
  'hardwareConcurrency',
  'deviceMemory',
  'permissions',
  'userAgentData',
];
const NATIVE = /\{\s*\[native code\]\s*\}\s*$/;

export function falseNatives(realm: Realm): EnvironmentSign[] {
  const getters = [
    ...NAVIGATOR_GETTERS.map((name) => getterOf(Navigator.prototype, name)),
    getterOf(Screen.prototype, 'width'),
    getterOf(HTMLIFrameElement.prototype, 'contentWindow'),
  ].filter((getter) => getter !== undefined);
  const methods = [
    methodOf(globalThis.Permissions, 'query'),
    methodOf(HTMLMediaElement, 'canPlayType'),
    methodOf(globalThis.WebGLRenderingContext, 'getParameter'),
  ].filter((method) => method !== undefined);
  return namesFound<EnvironmentSign>([
    ['proxied-native', [...getters, ...methods].some((built) => isProxy(built, realm))],
    ['false-getter', getters.some((getter) => isFalseGetter(getter, realm))],
    ['false-plugins', hasFalsePlugins(navigator.plugins)],
  ]);
}

function getterOf(owner: object, name: string): Callable | undefined {
  // oxlint-disable-next-line typescript/unbound-method -- examined, not called on another object by mistake
  return Object.getOwnPropertyDescriptor(owner, name)?.get;
}

function methodOf(kind: { prototype: object } | undefined, name: string): Callable | undefined {
  return kind && (Object.getOwnPropertyDescriptor(kind.prototype, name)?.value as Callable | undefined);
}

/** A function cannot inherit from what inherits from it. A proxy of it can, because the proxy is another object. */
function isProxy(built: Callable, { Reflect, Object }: Realm): boolean {
  const parent = Reflect.getPrototypeOf(built);
  const isOther = Reflect.setPrototypeOf(built, Object.create(built) as object);
  if (isOther) Reflect.setPrototypeOf(built, parent);
  return isOther;
}

/** The browser's own getters refuse any other object, and print no source. */
function isFalseGetter(getter: Callable, { Reflect, Object, Function }: Realm): boolean {
  if (!NATIVE.test(Function.prototype.toString.call(getter))) return true;
  try {
    Reflect.apply(getter, Object.create(null), []);
    return true;
  } catch {
    return false;
  }
}

/** A plugin and the types it handles refer to each other. */
function hasFalsePlugins(plugins: PluginArray): boolean {
  const first = plugins[0];
  return first !== undefined && first.length > 0 && first[0]?.enabledPlugin !== first;
}
