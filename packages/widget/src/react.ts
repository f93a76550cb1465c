/**
 * The widget for React 18 and 19. On a server it renders an empty `div`. In strict mode React mounts twice; the first
 * mount leaves nothing behind.
 */
'use client';
import {
  createElement,
  forwardRef,
  type ForwardRefExoticComponent,
  type HTMLAttributes,
  type RefAttributes,
  useEffect,
  useImperativeHandle,
  useRef,
} from 'react';
import type { LoadOptions } from './widget/load-widget.ts';
import { type MountedWidget, mountWidget } from './widget/mount-widget.ts';
import type { WidgetEvents, WidgetSettings } from './widget/widget-types.ts';

export interface GatehouseProps extends LoadOptions, WidgetSettings, WidgetEvents {
  /** Of the `div` around the widget. */
  id?: string | undefined;
  className?: string | undefined;
  style?: HTMLAttributes<HTMLDivElement>['style'];
}

/** What a `ref` to the component has. */
export type GatehouseHandle = Pick<MountedWidget, 'response' | 'execute' | 'reset' | 'retry'>;

export const Gatehouse: ForwardRefExoticComponent<GatehouseProps & RefAttributes<GatehouseHandle>> = forwardRef<
  GatehouseHandle,
  GatehouseProps
>(function Gatehouse({ id, className, style, serviceUrl, nonce, ...options }, ref) {
  const container = useRef<HTMLDivElement>(null);
  const mounted = useRef<MountedWidget | null>(null);
  // Handlers are often new functions at each render. Mounting does not depend on them.
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
    mounted.current?.update(options);
  });
  useEffect(() => {
    if (container.current === null) return undefined;
    const widget = mountWidget(container.current, { serviceUrl, nonce, ...latest.current });
    mounted.current = widget;
    return () => {
      mounted.current = null;
      widget.unmount();
    };
  }, [serviceUrl, nonce]);
  useImperativeHandle(
    ref,
    () => ({
      get response() {
        return mounted.current?.response ?? '';
      },
      execute: () => mounted.current?.execute() ?? Promise.reject(new Error('The widget is not on the page.')),
      reset: () => mounted.current?.reset(),
      retry: () => mounted.current?.retry(),
    }),
    [],
  );
  return createElement('div', { ref: container, id, className, style });
});
