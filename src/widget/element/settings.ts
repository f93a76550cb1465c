/**
 * What a page can set on a widget: by attribute (`sitekey` or `data-sitekey`) on the element or the
 * classic `div`, or as an option of `gatehouse.render`. One list, so that the three never drift.
 */

export const settingNames = [
  'sitekey',
  'action',
  'cdata',
  'api',
  'theme',
  'size',
  'start',
  'language',
  'field',
  'callback',
  'expired-callback',
  'error-callback',
  'reset-callback',
  'open-callback',
  'close-callback',
] as const;
export type SettingName = (typeof settingNames)[number];

/**
 * `load`: at once. `interaction` (default): when the visitor first touches the form or the box.
 * `click`: only on the box. `submit`: when the form is sent. In every case a form that is sent
 * without a token waits for it.
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
