package provider_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/provider"
)

// members returns the paths of a type's JSON members, with [] for those of lists.
func members(of reflect.Type, prefix string) []string {
	switch of.Kind() {
	case reflect.Pointer:
		return members(of.Elem(), prefix)
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Struct {
			return members(of.Elem(), prefix+"[]")
		}
	case reflect.Struct:
		var all []string
		for field := range of.Fields() {
			name := field.Tag.Get("json")
			all = append(all, members(field.Type, strings.TrimPrefix(prefix+"."+name, "."))...)
		}
		return all
	}
	return []string{prefix}
}

// The members that the specification has for the profile of VK, by kind.
var vkMembers = map[string]string{
	"":   "id first_name last_name photo_100 can_access_closed is_closed",
	"s":  "about activities bdate books city_name deactivated domain email games home_town interests maiden_name movies music nickname photo_200 photo_200_orig photo_400 photo_400_orig photo_50 photo_id photo_max photo_max_orig quotes screen_name site status tv",
	"n":  "first_name_abl first_name_acc first_name_dat first_name_gen first_name_ins first_name_nom last_name_abl last_name_acc last_name_dat last_name_gen last_name_ins last_name_nom",
	"i":  "common_count followers_count online_app timezone friend_status sex relation wall_default",
	"f":  "blacklisted blacklisted_by_me can_post can_see_all_posts can_see_audio can_send_friend_request can_write_private_message has_mobile has_photo is_favorite is_friend is_hidden_from_feed is_no_index online online_mobile trending verified",
	"o1": "city.id city.title country.id country.title career.city_id career.country_id career.from career.group_id career.until career.city_name career.company career.position connections exports contacts.home_phone contacts.mobile_phone",
	"o2": "counters.albums counters.audios counters.followers counters.friends counters.groups counters.mutual_friends counters.notes counters.online_friends counters.pages counters.photos counters.user_videos counters.videos",
	"o3": "education.faculty education.graduation education.university education.faculty_name education.university_name last_seen.platform last_seen.time military.country_id military.unit_id military.unit military.from military.until occupation.id occupation.name occupation.type",
	"o4": "personal.alcohol personal.smoking personal.life_main personal.people_main personal.political personal.inspired_by personal.religion personal.langs",
	"o5": "relation_partner.id relation_partner.first_name relation_partner.last_name relation_partner.can_access_closed relation_partner.is_closed relation_partner.deactivated relation_partner.hidden relatives[].id relatives[].name relatives[].type",
	"o6": "schools[].city schools[].country schools[].type schools[].year_from schools[].year_graduated schools[].year_to schools[].class schools[].id schools[].name schools[].speciality schools[].type_str",
	"o7": "universities[].chair universities[].city universities[].country universities[].faculty universities[].graduation universities[].id universities[].university_group_id universities[].chair_name universities[].education_form universities[].education_status universities[].faculty_name universities[].name",
	"o8": "status_audio.artist status_audio.duration status_audio.id status_audio.owner_id status_audio.title status_audio.access_key status_audio.performer status_audio.url status_audio.album_id status_audio.date status_audio.genre_id",
	"o9": "crop_photo.crop.x crop_photo.crop.x2 crop_photo.crop.y crop_photo.crop.y2 crop_photo.rect.x crop_photo.rect.x2 crop_photo.rect.y crop_photo.rect.y2",
	"p1": "crop_photo.photo.album_id crop_photo.photo.date crop_photo.photo.has_tags crop_photo.photo.id crop_photo.photo.owner_id crop_photo.photo.access_key crop_photo.photo.can_comment crop_photo.photo.height crop_photo.photo.width crop_photo.photo.lat crop_photo.photo.long crop_photo.photo.photo_256 crop_photo.photo.place crop_photo.photo.post_id crop_photo.photo.text crop_photo.photo.user_id",
	"p2": "crop_photo.photo.images[].height crop_photo.photo.images[].width crop_photo.photo.images[].url crop_photo.photo.images[].type crop_photo.photo.sizes[].height crop_photo.photo.sizes[].width crop_photo.photo.sizes[].src crop_photo.photo.sizes[].url crop_photo.photo.sizes[].type",
}

func TestTypedProfilesHaveEveryMemberOfTheSpecification(t *testing.T) {
	var vk []string
	for _, names := range vkMembers {
		vk = append(vk, strings.Fields(names)...)
	}
	for name, tt := range map[string]struct {
		of   reflect.Type
		want []string
	}{
		"S-41 VK": {reflect.TypeFor[provider.VKProfile](), vk},
		"S-40 X": {reflect.TypeFor[provider.TwitterProfile](), strings.Fields(`data.id data.name data.username data.created_at data.description data.email
			data.entities.description.hashtags[].start data.entities.description.hashtags[].end data.entities.description.hashtags[].tag
			data.entities.url.urls[].display_url data.entities.url.urls[].expanded_url data.entities.url.urls[].url data.entities.url.urls[].start data.entities.url.urls[].end
			data.location data.pinned_post_id data.profile_image_url data.protected data.url data.verified includes.posts[].id includes.posts[].text`)},
	} {
		t.Run(name, func(t *testing.T) {
			has := members(tt.of, "")
			for _, member := range tt.want {
				if !slices.Contains(has, member) {
					t.Errorf("%s is missing", member)
				}
			}
		})
	}
}

// The types consist of struct tags, so a response with a value at every path must
// leave no field empty.
func TestTypedProfilesDecodeAnswers(t *testing.T) {
	var vk provider.VKProfile
	if err := profileWith(t, []string{"id", "sex", "has_mobile", "city.id", "education.graduation", "crop_photo.photo.sizes[0].width", "exports.twitter", "timezone"}, 7).Decode(&vk); err != nil {
		t.Fatal(err)
	}
	if vk.ID != 7 || vk.Sex != 7 || vk.HasMobile != 7 || vk.City.ID != 7 || vk.Education.Graduation != 7 || vk.CropPhoto.Photo.Sizes[0].Width != 7 || vk.Exports["twitter"] != 7 || vk.Timezone != 7 {
		text, _ := json.Marshal(vk)
		t.Errorf("Decode gave %s", text)
	}
	var x provider.TwitterProfile
	if err := profileWith(t, []string{"data.location", "data.entities.url.urls[0].expanded_url", "data.entities.description.hashtags[0].tag", "includes.posts[0].text"}, "text").Decode(&x); err != nil {
		t.Fatal(err)
	}
	if x.Data.Location != "text" || x.Data.Entities.URL.URLs[0].ExpandedURL != "text" || x.Data.Entities.Description.Hashtags[0].Tag != "text" || x.Includes.Posts[0].Text != "text" {
		t.Errorf("Decode gave %+v", x)
	}
}
