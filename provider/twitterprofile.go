package provider

// TwitterProfile is what OAuth 2.0 says of a person; see
// [pintle.Profile.Decode].
type TwitterProfile struct {
	Data struct {
		ID              string `json:"id"`
		Name            string `json:"name"`
		Username        string `json:"username"`
		ConfirmedEmail  string `json:"confirmed_email"`
		ProfileImageURL string `json:"profile_image_url"`
	} `json:"data"`
}
