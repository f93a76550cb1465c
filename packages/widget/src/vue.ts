/** The widget for Vue 3. `v-model` is the token. On a server it renders an empty `div`. */
import { defineComponent, h, onBeforeUnmount, onMounted, type PropType, shallowRef, watch } from 'vue';
import { type MountedWidget, mountWidget } from './widget/mount-widget.ts';
import type { CaptchaErrorCode, Size, StartMode, Theme, WidgetEvents, WidgetSettings } from './widget/widget-types.ts';

/** What a template ref to the component has. */
export type GatehouseHandle = Pick<MountedWidget, 'execute' | 'reset' | 'retry'> & { getResponse(): string };

export const Gatehouse = defineComponent({
  name: 'Gatehouse',
  props: {
    serviceUrl: { type: String, required: true },
    nonce: String,
    sitekey: String,
    action: String,
    cdata: String,
    userToken: String,
    start: String as PropType<StartMode>,
    size: String as PropType<Size>,
    theme: String as PropType<Theme>,
    language: String,
    field: String,
    renew: String as PropType<'auto' | 'never'>,
    api: String,
    /** Set by the widget. */
    modelValue: String,
  },
  emits: {
    'update:modelValue': (_token: string) => true,
    ready: () => true,
    start: () => true,
    waiting: () => true,
    verify: (_token: string) => true,
    expire: () => true,
    error: (_code: CaptchaErrorCode, _detail: string) => true,
    reset: () => true,
    open: () => true,
    close: () => true,
  },
  setup(props, { emit, expose }) {
    const container = shallowRef<HTMLDivElement>();
    let mounted: MountedWidget | undefined;

    // All of them by name, so that a new one is not forgotten.
    const settings = (): Required<WidgetSettings> => {
      const { sitekey, action, cdata, userToken, start, size, theme, language, field, renew, api } = props;
      return { sitekey, action, cdata, userToken, start, size, theme, language, field, renew, api };
    };
    const events: Required<WidgetEvents> = {
      onReady: () => emit('ready'),
      onStart: () => emit('start'),
      onWaiting: () => emit('waiting'),
      onVerify: (token) => {
        emit('update:modelValue', token);
        emit('verify', token);
      },
      onExpire: () => {
        emit('update:modelValue', '');
        emit('expire');
      },
      onError: (code, detail) => {
        emit('update:modelValue', '');
        emit('error', code, detail);
      },
      onReset: () => {
        emit('update:modelValue', '');
        emit('reset');
      },
      onOpen: () => emit('open'),
      onClose: () => emit('close'),
    };
    const mount = (): void => {
      mounted?.unmount();
      const { serviceUrl, nonce } = props;
      if (container.value) mounted = mountWidget(container.value, { serviceUrl, nonce, ...settings(), ...events });
    };

    onMounted(mount);
    watch(() => [props.serviceUrl, props.nonce], mount);
    watch(settings, (changed) => mounted?.update({ ...changed, ...events }));
    onBeforeUnmount(() => {
      mounted?.unmount();
      mounted = undefined;
    });

    const handle: GatehouseHandle = {
      getResponse: () => mounted?.response ?? '',
      execute: () => mounted?.execute() ?? Promise.reject(new Error('The widget is not on the page.')),
      reset: () => mounted?.reset(),
      retry: () => mounted?.retry(),
    };
    expose(handle);
    return () => h('div', { ref: container });
  },
});
