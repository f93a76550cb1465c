/**
 * What a page can set on a widget: by attribute (`sitekey` or `data-sitekey`) on the element or on a `div` with the
 * class `gatehouse-captcha`, or as an option of `gatehouse.render`. All three read this one list.
 */

export const settingNames = [
  'sitekey',
  'action',
  'cdata',
  'user-token',
  'api',
  'theme',
  'size',
  'start',
  'language',
  'field',
  'renew',
  'callback',
  'expired-callback',
  'error-callback',
  'reset-callback',
  'open-callback',
  'close-callback',
] as const;
export type SettingName = (typeof settingNames)[number];

/**
 * When the widget starts solving. `load`: at once. `interaction` (default): when the visitor first uses the form or the
 * box. `click`: on a click on the box. `submit`: when the visitor submits the form. In every mode, a form that is
 * submitted without a token waits for it.
 */
export type StartMode = 'load' | 'interaction' | 'click' | 'submit';
export type Theme = 'light' | 'dark' | 'auto';
export type Size = 'normal' | 'compact' | 'flexible' | 'invisible';

export type RenderOptions = Partial<Record<Exclude<SettingName, `${string}callback`>, string>> & {
  sitekey: string;
  theme?: Theme;
  size?: Size;
  start?: StartMode;
  callback?: string | ((token: string) => void);
  'expired-callback'?: string | (() => void);
  'error-callback'?: string | ((code: string, detail: string) => void);
  'reset-callback'?: string | (() => void);
  'open-callback'?: string | (() => void);
  'close-callback'?: string | (() => void);
};

export function readSetting(element: Element, name: SettingName): string | null {
  return element.getAttribute(name) ?? element.getAttribute(`data-${name}`);
}
