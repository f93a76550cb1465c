/** The widget in an application that is built with a bundler: its script comes from the service, and its types from here. */
export { loadWidget, scriptUrl } from './widget/load-widget.ts';
export type { LoadOptions } from './widget/load-widget.ts';
export { mountWidget } from './widget/mount-widget.ts';
export type { MountedWidget, MountOptions } from './widget/mount-widget.ts';
export type {
  CaptchaErrorCode,
  GatehouseElement,
  Size,
  StartMode,
  Theme,
  WidgetEvents,
  WidgetSettings,
} from './widget/widget-types.ts';
