// Browsers start no worker for a page on a disk: the search then runs in a hidden frame, which looks like one.
if (location.protocol === "file:") window.Worker = class extends EventTarget {
  constructor(url) {
    super();
    const base = new URL(url, location);
    const worker = this, waiting = [], frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    const inside = frame.contentWindow;
    this.postMessage = (data) => waiting.push(data);
    inside.postMessage = (data) => worker.answer(data);
    inside.importScripts = (...urls) => urls.reduce((before, next) => before.then(() => load(next)), Promise.resolve());
    const load = (source) => new Promise((done) => {
      const script = inside.document.createElement("script");
      script.src = new URL(source, base);
      script.onload = done;
      inside.document.body.append(script);
    });
    load(base).then(() => {
      this.postMessage = (data) => inside.dispatchEvent(new inside.MessageEvent("message", {data}));
      waiting.forEach((data) => this.postMessage(data));
    });
  }

  answer(data) {
    const event = new MessageEvent("message", {data});
    this.dispatchEvent(event);
    if (this.onmessage) this.onmessage(event);
  }

  terminate() {}
};
