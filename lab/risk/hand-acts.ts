/** What a person does in a window with pointer and keyboard, as close as `Hand` can imitate it. */
import { type Hand, type Look, pause } from './hand.ts';

export interface Scene {
  hand: Hand;
  look: Look;
}
export interface HandAct {
  path: string;
  does(scene: Scene): Promise<void>;
}

/** The page reports after four seconds and again after thirty. */
const FIRST_REPORT_MS = 4600;
const STILL_REPORT_MS = 31_000;
const ARRIVES_WITHIN_MS = 6000;

/** Whether this page is shown in time. */
async function hasArrived(look: Look, path: string): Promise<boolean> {
  for (let waited = 0; waited < ARRIVES_WITHIN_MS; waited += 100) {
    if (look()?.path === path) return true;
    await pause(100);
  }
  return false;
}

/** Clicks again when the link was missed. */
async function follow({ hand, look }: Scene, id: string, clicks = 3): Promise<void> {
  await hand.click(id);
  if (await hasArrived(look, `/${id}`)) return pause(FIRST_REPORT_MS);
  if (clicks === 1) throw new Error(`/${id} was not shown`);
  return follow({ hand, look }, id, clicks - 1);
}

export const readsAndScrolls: HandAct = {
  path: '/article',
  async does({ hand }) {
    await hand.findPage();
    await pause(900);
    await hand.wheel(12);
    await pause(1200);
    await hand.wheel(10);
    await hand.moveOnto('article');
    await pause(1500);
  },
};
export const readsByWheelOnly: HandAct = {
  path: '/article',
  async does({ hand }) {
    for (let time = 0; time < 7; time++) {
      await hand.wheel(4);
      await pause(3500);
    }
    await pause(5000);
  },
};
export const fillsIn: HandAct = {
  path: '/form',
  async does({ hand }) {
    await hand.findPage();
    await hand.click('name');
    await hand.type('somebody of this town');
    await hand.key('Tab');
    await hand.type('somebody@example.org');
    await hand.click('message');
    await hand.type('please call me in the afternoon, not later.', 170);
    await hand.click('agree');
    await hand.click('send');
    await pause(600);
  },
};
export const fillsInQuickly: HandAct = {
  path: '/form',
  async does({ hand }) {
    await hand.findPage();
    await hand.click('name');
    await hand.type('somebody', 80);
    await hand.key('Tab');
    await hand.type('s@example.org', 75);
    await hand.key('Return');
    await pause(FIRST_REPORT_MS);
  },
};
export const passwordManagerTypes: HandAct = {
  path: '/form',
  async does({ hand }) {
    await hand.findPage();
    await hand.click('password');
    await hand.typeAsTool('correct-horse-battery-staple', 4);
    await pause(700);
    await hand.click('send');
    await pause(FIRST_REPORT_MS);
  },
};
export const visitsPages: HandAct = {
  path: '/',
  async does(scene) {
    await scene.hand.findPage();
    await pause(1500);
    await scene.hand.key('End');
    await pause(800);
    for (const id of ['prices', 'contact', 'article']) {
      await follow(scene, id);
      if (id !== 'article') await scene.hand.key('End');
      await pause(700);
    }
  },
};
export const visitsPagesAndReturns: HandAct = {
  path: '/article',
  async does(scene) {
    await scene.hand.findPage();
    await follow(scene, 'prices');
    await scene.hand.key('alt+Left');
    await hasArrived(scene.look, '/article');
    await pause(FIRST_REPORT_MS);
    await follow(scene, 'contact');
  },
};
export const keyboardOnly: HandAct = {
  path: '/form',
  async does({ hand }) {
    await pause(1200);
    await hand.key('Tab', 5);
    await hand.type('somebody');
    await hand.key('Tab');
    await hand.type('s@example.org');
    await hand.key('Tab', 2);
    await hand.type('by keys alone');
    await hand.key('Tab');
    await hand.key('space');
    await hand.key('Tab');
    await hand.key('Return');
    await pause(2000);
  },
};
export const scrollsByKeyboard: HandAct = {
  path: '/article',
  async does({ hand }) {
    await pause(1500);
    await hand.key('Page_Down', 6);
    await pause(2500);
    await hand.key('space', 4);
    await pause(1500);
  },
};
export const clicksRepeatedly: HandAct = {
  path: '/gallery',
  async does({ hand }) {
    await hand.findPage();
    await hand.moveOnto('forward');
    await pause(3500);
    for (let time = 0; time < 8; time++) {
      await hand.press();
      await pause(350 + Math.random() * 700);
    }
  },
};
export const selectsText: HandAct = {
  path: '/article',
  async does({ hand }) {
    await hand.findPage();
    await hand.moveOnto('article');
    await hand.drag(180, 90);
    await pause(600);
    for (let time = 0; time < 4; time++) {
      await hand.press();
    }
    await hand.drag(-220, 160);
    await pause(2500);
  },
};
export const onlyLooks: HandAct = {
  path: '/library',
  does: () => pause(STILL_REPORT_MS),
};
export const leavesAfterFiveSeconds: HandAct = {
  path: '/prices',
  does: () => pause(FIRST_REPORT_MS),
};
export const returnsFromAnotherTab: HandAct = {
  path: '/article',
  async does({ hand }) {
    await hand.key('ctrl+t');
    await pause(29_000);
    await hand.key('ctrl+Tab');
    await pause(4000);
    await hand.findPage();
    await hand.wheel(4);
    await pause(1500);
  },
};
export const taps: HandAct = {
  path: '/form',
  async does({ hand }) {
    await hand.findPageByTap();
    await pause(900);
    await hand.tap('name');
    await hand.type('somebody', 210);
    await hand.tap('mail');
    await hand.type('s@example.org', 230);
    await hand.tap('agree');
    await hand.tap('send');
    await pause(FIRST_REPORT_MS);
  },
};
export const followsALinkByTap: HandAct = {
  path: '/article',
  async does(scene) {
    await scene.hand.findPageByTap();
    await pause(2000);
    await scene.hand.tap('contact');
    await hasArrived(scene.look, '/contact');
    await pause(FIRST_REPORT_MS);
  },
};

/** Larger text, by the browser's own zoom, then another page. */
export const zoomsIn: HandAct = {
  path: '/article',
  async does({ hand }) {
    await hand.key('ctrl+plus', 4);
    await pause(900);
    await hand.key('Page_Down', 3);
    await pause(FIRST_REPORT_MS);
    await hand.key('ctrl+r');
    await pause(FIRST_REPORT_MS);
  },
};
/** Moves through the text by a caret, as people do who read with a screen reader or a magnifier. */
export const readsWithTheCaret: HandAct = {
  path: '/article',
  async does({ hand }) {
    await hand.key('F7');
    await hand.key('Return');
    await hand.key('Down', 6);
    await hand.key('ctrl+Right', 5);
    await hand.key('shift+Down', 2);
    await pause(FIRST_REPORT_MS);
  },
};
export const opensReaderView: HandAct = {
  path: '/article',
  async does({ hand }) {
    await hand.findPage();
    await hand.wheel(3);
    await pause(1500);
    await hand.key('F9');
    await pause(FIRST_REPORT_MS);
    await hand.key('F9');
    await pause(FIRST_REPORT_MS);
  },
};

/** A longer visit with the mouse: forms and buttons on several pages. */
export const usesSeveralPages: HandAct = {
  path: '/form',
  async does(scene) {
    const { hand } = scene;
    await hand.findPage();
    await hand.click('name');
    await hand.type('somebody');
    await hand.click('mail');
    await hand.type('s@example.org');
    await hand.click('send');
    await hand.click('agree');
    await pause(FIRST_REPORT_MS);
    await follow(scene, 'article');
    await hand.wheel(6);
    await hand.key('Home');
    await pause(1500);
    await follow(scene, 'prices');
    await hand.key('End');
    await pause(800);
    await follow(scene, 'contact');
  },
};

/** A tool that uses the real pointer and keyboard, as desktop automation does. */
export const toolJumps: HandAct = {
  path: '/form',
  async does({ hand }) {
    await hand.findPage();
    for (const id of ['name', 'mail', 'message', 'send']) {
      await hand.moveAsTool(id, 1);
      await hand.press();
      if (id !== 'send') await hand.typeAsTool('some words of a tool', 12);
    }
    await pause(FIRST_REPORT_MS);
  },
};
export const toolGlides: HandAct = {
  path: '/form',
  async does({ hand }) {
    await hand.findPage();
    for (const id of ['name', 'message', 'send']) {
      await hand.moveAsTool(id, 50);
      await hand.press();
      if (id !== 'send') await hand.typeAsTool('words at one pace', 80);
    }
    await pause(FIRST_REPORT_MS);
  },
};
