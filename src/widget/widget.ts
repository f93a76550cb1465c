/**
 * The widget script: registers the element, provides `window.gatehouse`, and renders a widget into every marked `div`.
 * With `?render=explicit` the page renders widgets itself; `?onload=name` names a function to call when ready. Importing
 * the script where there is no DOM does nothing.
 */
import { autoRender, ELEMENT_NAME, gatehouse } from './element/gatehouse-api.ts';
import { GatehouseWidget, script } from './element/widget-element.ts';

export type { GatehouseApi } from './element/gatehouse-api.ts';
export type { RenderOptions, Size, StartMode, Theme } from './element/settings.ts';
export type { CaptchaErrorCode } from './token/captcha-error.ts';

// A compatibility script that ran before has defined the element, and nothing else of this.
if (typeof customElements !== 'undefined' && window.gatehouse?.render === undefined) {
  window.gatehouse = gatehouse;
  if (customElements.get(ELEMENT_NAME) === undefined) customElements.define(ELEMENT_NAME, GatehouseWidget);
  gatehouse.ready(() => {
    if (script.params.get('render') !== 'explicit') autoRender();
    const onload = (globalThis as unknown as Record<string, unknown>)[script.params.get('onload') ?? ''];
    if (typeof onload === 'function') (onload as () => void)();
  });
}
