// Shows the switches of password fields, which would do nothing without this script.
"use strict";
for (const part of document.querySelectorAll("[data-show]")) {
  const field = document.getElementById(part.dataset.show);
  const box = part.querySelector("input");
  const set = (shown) => {
    box.checked = shown;
    field.type = shown ? "text" : "password";
  };
  box.addEventListener("change", () => set(box.checked));
  // Browsers keep what was typed into a text field, and password managers look for the type.
  field.form.addEventListener("submit", () => set(false));
  // The history brings a page back with the box as it was.
  addEventListener("pageshow", () => set(false));
  part.hidden = false;
}
