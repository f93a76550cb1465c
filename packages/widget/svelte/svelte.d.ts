import type { Component } from 'svelte';
import type { LoadOptions, MountedWidget, WidgetEvents, WidgetSettings } from './index.js';

export interface GatehouseProps extends LoadOptions, WidgetSettings, WidgetEvents {
  /** `bind:token`: the token, or an empty string. */
  token?: string | undefined;
  /** Of the `div` around the widget. */
  id?: string | undefined;
  class?: string | undefined;
}

/** What `bind:this` has. */
export type GatehouseHandle = Pick<MountedWidget, 'execute' | 'reset' | 'retry'> & { getResponse(): string };

/** The widget for Svelte 5. */
export declare const Gatehouse: Component<GatehouseProps, GatehouseHandle, 'token'>;
