package pintle

import "github.com/pintleauth/pintle/internal/wire"

// A listedProvider is a provider as clients see it. They recognise the way to
// sign in by its type.
type listedProvider struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Type        string `json:"type"`
	SignInURL   string `json:"signinUrl"`
	CallbackURL string `json:"callbackUrl"`
}

// listProviders answers GET providers: an object of the providers by their ids,
// in the order of the configuration.
func (x *exchange) listProviders() error {
	list := wire.NewObject()
	for _, p := range x.providers {
		list.Add(p.id, listedProvider{
			ID: p.id, Name: p.name, Type: string(p.kind),
			SignInURL:   x.origin + x.base + "/signin/" + p.id,
			CallbackURL: x.callbackRoute(p),
		})
	}
	body, err := list.Bytes()
	if err != nil {
		return err
	}
	x.answer.cookies = nil
	x.setJSON(200, body)
	return nil
}
